// An index of a compendium by code and by words of names.
import type { Names, SearchIndex, MatchQuery } from './model.ts'

/** Words that are too common to search by. */
const STOP_WORDS = new Set(['and', 'blood', 'free', 'of', 'panel', 'profile', 'serum', 'test', 'total', 'with'])

export const wordsIn = ({ own, synonyms }: Names): Set<string> =>
  new Set([own, ...synonyms].flatMap(({ words }) => words).filter((word) => !STOP_WORDS.has(word)))

/** Indexes items by their codes and words. */
export function buildIndex<F extends MatchQuery>(all: Iterable<F>): SearchIndex<F> {
  const index: SearchIndex<F> = { byCode: new Map(), byWord: new Map() }
  const addToIndex = (place: Map<string, F[]>, key: string, found: F) => {
    const there = place.get(key)
    if (there) there.push(found)
    else place.set(key, [found])
  }
  for (const found of all) {
    for (const code of found.loinc_codes) addToIndex(index.byCode, code, found)
    for (const word of wordsIn(found.names)) addToIndex(index.byWord, word, found)
  }
  return index
}
