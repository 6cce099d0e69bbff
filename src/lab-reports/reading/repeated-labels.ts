// Labels that a page of a picture repeats in each block, and that were misread in some.
import type { Word } from '../pages/page.ts'

/** Words of labels of results and ranges, which a portal repeats in each block. */
const LABEL_WORDS = new Set([
  'normal',
  'reference',
  'standard',
  'expected',
  'optimal',
  'range',
  'interval',
  'your',
  'value',
  'result',
])
/** So many times a page has a word that another word may be a misread one. */
const LABEL_WORDS_MIN = 4

/** A word without the sign behind it. */
export const plainOf = (text: string): string => text.toLowerCase().replace(/[,.;:]$/u, '')

/** `Nomol rarge:`, `Youir valu:` as the labels that a page repeats, where what was read is no word. */
export function withUsualLabels(words: readonly Word[], isWord: (text: string) => boolean): Word[] {
  const counts = new Map<string, number>()
  for (const { text } of words) counts.set(text, (counts.get(text) ?? 0) + 1)
  const labels = [...counts].filter(([text, count]) => count >= LABEL_WORDS_MIN && LABEL_WORDS.has(plainOf(text)))
  return words.map((word) => {
    const letters = plainOf(word.text)
    if (!labels.length || !/^\p{L}{3,}$/u.test(letters) || isWord(letters)) return word
    const matches = labels.filter(([label]) => {
      const plain = plainOf(label)
      return plain[0] === letters[0] && countEdits(plain, letters) <= (plain.length > 4 ? 2 : 1)
    })
    return matches.length === 1 ? { ...word, text: matches[0]![0] } : word
  })
}

/** How many letters are to be added, left out or replaced to make one text of another. */
function countEdits(text: string, target: string): number {
  let distances = Array.from({ length: target.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...text].entries()) {
    const next = [row + 1]
    for (const [index, targetLetter] of [...target].entries())
      next.push(Math.min(next[index]! + 1, distances[index + 1]! + 1, distances[index]! + Number(letter !== targetLetter)))
    distances = next
  }
  return distances.at(-1)!
}
