// Finding by a code or by a word of a name what a compendium holds.
import type { Names, SearchIndex, MatchQuery } from './model.ts'

/** Words that too many names have. */
const STOP_WORDS = new Set(['and', 'blood', 'free', 'of', 'panel', 'profile', 'serum', 'test', 'total', 'with'])

export const wordsIn = ({ own, synonyms }: Names): Set<string> =>
  new Set([own, ...synonyms].flatMap(({ words }) => words).filter((word) => !STOP_WORDS.has(word)))

/** Puts what can be found where its codes and words lead to it. */
export function buildIndex<F extends MatchQuery>(all: Iterable<F>): SearchIndex<F> {
  const shelf: SearchIndex<F> = { byCode: new Map(), byWord: new Map() }
  const addToIndex = (place: Map<string, F[]>, key: string, found: F) => {
    const there = place.get(key)
    if (there) there.push(found)
    else place.set(key, [found])
  }
  for (const found of all) {
    for (const code of found.loinc_codes) addToIndex(shelf.byCode, code, found)
    for (const word of wordsIn(found.names)) addToIndex(shelf.byWord, word, found)
  }
  return shelf
}
