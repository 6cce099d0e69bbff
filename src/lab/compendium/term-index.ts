// Finding by a code or by a word of a name what a compendium holds.
import type { Names, Shelf, Sought } from './model.ts'

/** Words that too many names have. */
const COMMON = new Set(['and', 'blood', 'free', 'of', 'panel', 'profile', 'serum', 'test', 'total', 'with'])

export const wordsIn = ({ own, synonyms }: Names): Set<string> =>
  new Set([own, ...synonyms].flatMap(({ words }) => words).filter((word) => !COMMON.has(word)))

/** Puts what can be found where its codes and words lead to it. */
export function shelve<F extends Sought>(all: Iterable<F>): Shelf<F> {
  const shelf: Shelf<F> = { byCode: new Map(), byWord: new Map() }
  const put = (place: Map<string, F[]>, key: string, found: F) => {
    const there = place.get(key)
    if (there) there.push(found)
    else place.set(key, [found])
  }
  for (const found of all) {
    for (const code of found.loinc_codes) put(shelf.byCode, code, found)
    for (const word of wordsIn(found.names)) put(shelf.byWord, word, found)
  }
  return shelf
}
