"""One kind of error: a stable code, a plain sentence, and what to do."""


class Problem(Exception):
    def __init__(self, code, text, remedy):
        super().__init__(text)
        self.code = "setup/" + code
        self.text = text
        self.remedy = remedy

    def render(self):
        return "setup: error[%s]: %s\n  help: %s" % (self.code, self.text, self.remedy)
