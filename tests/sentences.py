"""The twelve sentences on which the heads of MiniLM were measured; facts about heads are facts on these."""

SET_A = (
    "The animal didn't cross the street because it was too tired.",
    "The quick brown fox jumps over the lazy dog.",
    "Yesterday, the old teacher gave her students a difficult exam.",
    "In 2017, researchers at Google published a paper about attention.",
    "If it rains tomorrow, we will stay at home and read books.",
    "The red car stopped, but the blue truck kept moving.",
    "My sister bought three apples, two pears and a bottle of milk.",
    "Paris is the capital of France, and Berlin is the capital of Germany.",
    "The scientist who won the prize thanked her parents.",
    "Music helps many people relax after a long day at work.",
    "When the bell rang, the children ran out of the school.",
    "Neural networks learn patterns from large amounts of data.",
)
