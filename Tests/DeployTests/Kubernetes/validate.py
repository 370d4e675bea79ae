"""Validates what `kubectl kustomize` prints, strictly: validate.py SCHEMAS VERSION... with the documents on standard input.

Objects of Kubernetes are held against the schemas of each version named, those of the Prometheus Operator against
SCHEMAS. Prints one line for each thing that is wrong; exits with 1 when there is one.
"""
import json
import sys

import jsonschema
import kubernetes_validate
import yaml

schemas = json.load(open(sys.argv[1]))
failed = False
count = 0
for document in yaml.safe_load_all(sys.stdin):
    count += 1
    name = "%s %s" % (document["kind"], document["metadata"]["name"])
    if document["apiVersion"].startswith("monitoring.coreos.com/"):
        schema = dict(schemas, **{"$ref": "#/$defs/" + document["kind"]})
        problems = jsonschema.Draft202012Validator(schema).iter_errors(document)
        found = ["%s: %s" % (problem.json_path, problem.message) for problem in problems]
    else:
        found = []
        for version in sys.argv[2:]:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as problem:
                path = "/".join(str(part) for part in problem.path)
                found.append("%s: %s (Kubernetes %s)" % (path, problem.message, version))
            except kubernetes_validate.SchemaNotFoundError as problem:
                found.append(problem.message)
    for problem in found:
        failed = True
        print("%s: %s" % (name, problem))
if not failed:
    print("valid: %d" % count)
sys.exit(1 if failed else 0)
