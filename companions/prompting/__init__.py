"""The prompt of a reply: the parts that stay the same from turn to turn, the history, and the context of the turn.

`turn_prompt.render_prompt` puts them together; `replies.context.compose` calls it and merges lines of the same role.
"""
