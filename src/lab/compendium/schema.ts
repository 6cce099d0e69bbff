// Shapes of the compendium. Source: lab-testing.md 27.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

/** Laboratories that the compendium compares. */
export const compendiumLabs = ['quest', 'labcorp', 'bioreference', 'sonora_quest'] as const
const CompendiumLab = OpenEnum(compendiumLabs)
type CompendiumLab = Static<typeof CompendiumLab>

const searchModes = ['canonical', 'crosswalk'] as const
const SearchMode = OpenEnum(searchModes)

/** The relation of a candidate's codes to those of the query. */
export const relations = ['exact', 'superset', 'subset', 'overlap', 'suggested'] as const
export type Relation = (typeof relations)[number]
const Relation = OpenEnum(relations, {
  description: 'Relation of the LOINC codes of the candidate to those of the query; `suggested`: only the names are similar.',
})

const ReasonCode = OpenEnum(['EXACT_LOINC_SET', 'SUBSET', 'SUPERSET', 'OVERLAP', 'NAME_MATCH', 'SYNONYM_MATCH'])
export type ReasonCode = Static<typeof ReasonCode>

const texts = T.Array(T.String())
const Confidence = T.Number({ description: 'From 0 to 1.' })
const Popularity = T.Number({
  description: 'Relative number of items of the laboratories with the same LOINC codes; 1 is the highest.',
})

export const CanonicalCandidate = Fields(
  {
    loinc_set_hash: T.String({ description: 'Ten hexadecimal digits that identify the set of LOINC codes.' }),
    display_name: T.String(),
    aliases: texts,
    loinc_codes: texts,
    provider_ids: texts,
    loinc_components: texts,
    loinc_groups: texts,
    cpt_codes: texts,
    popularity_score: Popularity,
    confidence: Confidence,
  },
  { title: 'CanonicalCandidate' },
)
export type CanonicalCandidate = Static<typeof CanonicalCandidate>

export const PerLabCandidate = Fields(
  {
    marker_id: T.Integer(),
    lab_id: T.Integer(),
    lab_slug: Nullable(T.String()),
    name: T.String(),
    result_names: texts,
    provider_id: Nullable(T.String()),
    loinc_set_hash: T.String(),
    loinc_codes: texts,
    loinc_components: texts,
    loinc_groups: texts,
    cpt_codes: texts,
    relation: Relation,
    confidence: Confidence,
    reason_codes: T.Array(ReasonCode),
    marker_popularity_score: Popularity,
  },
  { title: 'PerLabCandidate' },
)
export type PerLabCandidate = Static<typeof PerLabCandidate>

const RelatedCandidate = Fields(
  { canonical: CanonicalCandidate, relation: Relation, confidence: Confidence, reason_codes: T.Array(ReasonCode) },
  { title: 'RelatedCandidate' },
)
export type RelatedCandidate = Static<typeof RelatedCandidate>

export const SearchCompendium = Fields(
  {
    mode: SearchMode,
    query: Maybe(Text({ maxLength: 200, description: 'A name, a test code or a LOINC code.' })),
    loinc_set_hash: Maybe(Text({ maxLength: 64, description: 'In mode `crosswalk`, instead of `query`.' })),
    cpt_codes: Maybe(
      T.Array(Text({ minLength: 1, maxLength: 20 }), {
        maxItems: 100,
        description: 'Only items with at least one of these codes.',
      }),
    ),
    labs: Maybe(T.Array(CompendiumLab, { maxItems: 100, description: 'Default: all four.' })),
    include_related: Maybe(T.Boolean({ default: true })),
    limit: Maybe(Int({ minimum: 1, maximum: 20, default: 3, description: 'At most 10 in mode `canonical`.' })),
  },
  { title: 'SearchCompendium' },
)
export type SearchCompendium = Static<typeof SearchCompendium>

export const SearchCompendiumReply = Fields(
  {
    mode: SearchMode,
    selected_canonical: Nullable(CanonicalCandidate),
    canonical_candidates: T.Array(CanonicalCandidate),
    per_lab: T.Record(T.String(), T.Array(PerLabCandidate)),
    related: T.Array(RelatedCandidate),
  },
  { title: 'SearchCompendiumReply' },
)
export type SearchCompendiumReply = Static<typeof SearchCompendiumReply>

const Codes = T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 100 })

export const ConvertCompendium = Fields(
  {
    lab_test_id: Maybe(Uuid),
    provider_ids: Maybe(Codes),
    target_lab: CompendiumLab,
    limit: Maybe(Int({ minimum: 1, maximum: 20, default: 3 })),
  },
  { title: 'ConvertCompendium' },
)
export type ConvertCompendium = Static<typeof ConvertCompendium>

export const ConvertCompendiumReply = Fields(
  {
    source_lab_test_id: Nullable(Uuid),
    source_lab_id: Nullable(T.Integer({ description: 'Null if the codes do not belong to one laboratory.' })),
    target_lab_id: T.Integer(),
    target_lab_slug: T.String(),
    source_provider_ids: texts,
    converted_provider_ids: T.Array(T.String(), {
      description: 'Target codes that measure everything that a source code measures.',
    }),
    unresolved_provider_ids: T.Array(T.String(), { description: 'Source codes without a target code.' }),
    by_source_provider_id: T.Record(
      T.String(),
      Fields({ source_provider_id: T.String(), candidates: T.Array(PerLabCandidate) }, { title: 'ProviderIdConversion' }),
    ),
  },
  { title: 'ConvertCompendiumReply' },
)
export type ConvertCompendiumReply = Static<typeof ConvertCompendiumReply>

export const SearchOrderableTests = Fields(
  {
    provider_ids: Codes,
    target_lab: CompendiumLab,
    per_provider_limit: Maybe(Int({ minimum: 1, maximum: 20, default: 1 })),
  },
  { title: 'SearchOrderableTests' },
)
export type SearchOrderableTests = Static<typeof SearchOrderableTests>

export const SearchOrderableTestsReply = Fields(
  { candidates: T.Record(T.String(), T.Array(PerLabCandidate)) },
  { title: 'SearchOrderableTestsReply' },
)
export type SearchOrderableTestsReply = Static<typeof SearchOrderableTestsReply>
