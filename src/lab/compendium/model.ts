// What a compendium is made of: items of laboratories, and what they have in common.
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

/** An item of a laboratory. One without LOINC codes is compared by name only. */
export interface Item extends Omit<Static<typeof Row>, 'results'> {
  result_names: string[]
  loinc_set_hash: string
  loinc_codes: string[]
  loinc_components: string[]
  names: Names
}

/** A set of LOINC codes that some laboratory measures as one. */
export interface Canonical {
  loinc_set_hash: string
  display_name: string
  aliases: string[]
  loinc_codes: string[]
  loinc_components: string[]
  items: Item[]
  /** How many items have this set, of 1 the most. */
  popularity: number
  names: Names
}

/** What something is called, and what else it goes by. */
export interface Names {
  own: NormalizedName
  synonyms: NormalizedName[]
}

export interface Compendium {
  /** Of every laboratory, also of those that cannot be a target. */
  items: Item[]
  canonicals: Map<string, Canonical>
  /** What the canonicals share codes with. */
  related: SearchIndex<Canonical>
  /** By the slug of a laboratory that can be a target. */
  byLab: Map<string, SearchIndex<Item>>
}

/** What is looked for: codes and a name. */
export interface MatchQuery {
  loinc_codes: string[]
  names: Names
}

/** What can be found, by what it is found by. */
export interface SearchIndex<F> {
  byCode: Map<string, F[]>
  byWord: Map<string, F[]>
}
