import Testing

/// How a page is read.
@Suite struct DocumentedPageTests {
  @Test("prompts in console blocks and lines in sh blocks are commands; other blocks have none")
  func commands() {
    let page = DocumentedPage(
      "page.md",
      text: """
        Type:

        ```console
        $ reachd check
        valid
        $ reachd probe \\
            example.com
        ```
        ```sh
        # a comment
        cat <<EOF >file
        text
        EOF
        reachd plugins   # lists them
        ```
        ```yaml
        a: b
        ```
        1. indented
           ```sh
           true
           ```
        """)
    #expect(
      page.commands.map(\.text) == [
        "reachd check", "reachd probe \\\n    example.com", "cat <<EOF >file\ntext\nEOF",
        "reachd plugins   # lists them", "true",
      ])
    #expect(page.commands.map(\.line) == [4, 6, 11, 14, 21])
    #expect(page.commands[0].output == ["valid"])
    #expect(page.strayHints == [])
  }

  @Test("hints belong to the block that follows them")
  func hints() {
    let page = DocumentedPage(
      "page.md",
      text: """
        <!-- stage agent -->
        <!-- exit 1 -->
        ```sh
        reachd check --config reachd.yaml
        ```
        <!-- save /etc/reachd/reachd.yaml -->
        ```yaml
        targets: []
        ```
        <!-- a remark -->
        <!-- exit 2 -->
        Text.
        <!-- stage -->
        """)
    #expect(page.strayHints == ["page.md:11: no block follows this hint", "page.md:13: stage"])
    guard page.steps.count == 2, case .commands(let block) = page.steps[0],
      case .save(let text, let path) = page.steps[1]
    else { return #expect(page.steps.count == 2) }
    #expect(block.status == 1 && block.stage == "agent" && !block.keepsRunning)
    #expect(text == "targets: []\n" && path == "/etc/reachd/reachd.yaml")
  }
}
