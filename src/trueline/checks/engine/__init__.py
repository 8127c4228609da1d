"""The machinery: items are found by walking, asked, placed, rooted and concluded."""
