# Writes CHANGELOG.md as a changelog of Debian (deb-changelog(5)). What is unreleased is the version that is being built.
# Variables: version, maintainer, and date, as `date --rfc-email` prints it, for what is unreleased.

# Prints the item that was read, in lines of at most 79 columns.
function end_item(   count, words, i, line) {
  if (item == "") return
  if (!begun) { printf "%sreachd (%s) unstable; urgency=medium\n\n", separator, release; begun = 1 }
  count = split(item, words, " ")
  line = "  *"
  for (i = 1; i <= count; i++) {
    if (length(line) + 1 + length(words[i]) > 79) { print line; line = "   " }
    line = line " " words[i]
  }
  print line
  item = ""
}

function end_release() {
  end_item()
  if (begun) { printf "\n -- %s  %s\n", maintainer, day; separator = "\n" }
  begun = 0
}

# "## [Unreleased]" or "## [0.1.0] - 2026-12-01"
/^## / {
  end_release()
  release = $2
  gsub(/[][]/, "", release)
  day = date
  if (release == "Unreleased") release = version
  else { command = "LC_ALL=C date --utc --rfc-email --date=" $4; command | getline day; close(command) }
  next
}
/^- / { end_item(); item = substr($0, 3); next }
/^  / { item = item " " $0; next }
{ end_item() }
END { end_release() }
