"""What a model's reply says: one reader for each form of answer that a prompt asks for.

Models think aloud, quote the old query, echo the prompt, answer twice and stop in the middle. Every reader
goes the same way:

1. `text.answer_text` drops what the model only thought, whatever its tags and also where one of them is
   missing, the marks of chat templates, and what follows them. A reply that ends in its thought says nothing.
2. The form that was asked for comes first, because it leaves the least doubt: JSON, an answer tag or a box,
   then a labelled line ("Final answer: ..."), then a fence, then a table or a list, and running text last.
3. Among several answers in one form the last one counts, because a model that changes its mind says so
   later; but not one that the words around it call a draft, an alternative, a check, or the old query.
4. Names, numbers and keywords count only if the schema, the candidates or the question has them.
5. "No answer" (an empty text or list, None) is the answer where the reply refuses, only repeats the form,
   is cut off before its answer, or names two answers and does not say which. A guess would be worse: each
   step knows what to do without an answer. A list of names that is cut off is no answer either, but a query
   that is cut off comes back as it stands, since its error can be repaired.

No reader raises. Each module's docstring says what is particular to its form.

No step asks for structured output (`response_format`), though LiteLLM knows which models have it. It would
fit only the prompts that ask for a JSON object, and none of those that ask for a list, a letter, lines or a
fence. It would make results with and without it those of two different methods, and the papers used none.
And what it prevents, JSON that is broken or surrounded by prose, is read here.
"""
