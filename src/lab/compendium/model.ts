// Data structures of a compendium: items of laboratories, the code sets they share, and their index by code and by words of names.
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { NormalizedName } from './name-similarity.ts'

export const Row = T.Object({
  marker_id: T.Integer(),
  lab_id: T.Integer(),
  lab_slug: T.String(),
  name: T.String(),
  provider_id: T.String(),
  cpt_codes: T.Array(T.String()),
  is_orderable: T.Boolean(),
  results: T.Array(T.Object({ name: T.String(), loinc: Nullable(T.String()), loinc_name: Nullable(T.String()) })),
})

/** An item of a laboratory. An item without LOINC codes is compared by name only. */
export interface Item extends Omit<Static<typeof Row>, 'results'> {
  result_names: string[]
  loinc_set_hash: string
  loinc_codes: string[]
  loinc_components: string[]
  names: Names
}

/** A set of LOINC codes that at least one laboratory measures as one item. */
export interface Canonical {
  loinc_set_hash: string
  display_name: string
  aliases: string[]
  loinc_codes: string[]
  loinc_components: string[]
  items: Item[]
  /** The number of items with this set; 1 for the most frequent set. */
  popularity: number
  names: Names
}

/** A name and its synonyms. */
export interface Names {
  primary: NormalizedName
  synonyms: NormalizedName[]
}

export interface Compendium {
  /** Items of every laboratory, including items that cannot be a target. */
  items: Item[]
  canonicals: Map<string, Canonical>
  /** Index of canonicals by shared codes. */
  relatedIndex: SearchIndex<Canonical>
  /** By the slug of a laboratory that can be a target. */
  byLab: Map<string, SearchIndex<Item>>
}

/** A query: codes and a name. */
export interface MatchQuery {
  loinc_codes: string[]
  names: Names
}

/** Items by their codes and by the words of their names. */
export interface SearchIndex<F> {
  byCode: Map<string, F[]>
  byWord: Map<string, F[]>
}

/** Words that are too common to search by. */
const STOP_WORDS = new Set(['and', 'blood', 'free', 'of', 'panel', 'profile', 'serum', 'test', 'total', 'with'])

export const wordsIn = ({ primary, synonyms }: Names): Set<string> =>
  new Set([primary, ...synonyms].flatMap(({ words }) => words).filter((word) => !STOP_WORDS.has(word)))

/** Indexes items by their codes and words. */
export function buildIndex<F extends MatchQuery>(items: Iterable<F>): SearchIndex<F> {
  const index: SearchIndex<F> = { byCode: new Map(), byWord: new Map() }
  const addToIndex = (place: Map<string, F[]>, key: string, item: F) => {
    const there = place.get(key)
    if (there) there.push(item)
    else place.set(key, [item])
  }
  for (const found of items) {
    for (const code of found.loinc_codes) addToIndex(index.byCode, code, found)
    for (const word of wordsIn(found.names)) addToIndex(index.byWord, word, found)
  }
  return index
}
