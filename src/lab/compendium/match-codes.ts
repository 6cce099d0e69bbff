// Compares sets of LOINC codes and names: their relation and its confidence. Pure. Source: lab-testing.md 27.
import { type Canonical, type Compendium, type Item, type Names, type SearchIndex, type MatchQuery, wordsIn } from './model.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import { normalizeName, similarity, expandAbbreviations, type NormalizedName } from './name-similarity.ts'
import {
  relations,
  CanonicalCandidate,
  PerLabCandidate,
  type ReasonCode,
  type RelatedCandidate,
  type Relation,
} from './schema.ts'

/** Names with at least this similarity match. */
const SIMILARITY_MIN = 0.45
/** A name with at least this similarity is listed as a reason. */
const NAME_REASON_MIN = 0.65
/** Maximum confidence of a match by name only, below that of any match by code. */
const NAME_ONLY_CONFIDENCE_MAX = 0.5

export interface Match {
  relation: Relation
  confidence: number
  reason_codes: ReasonCode[]
}

const roundConfidence = (confidence: number): number => Math.round(confidence * 1000) / 1000

const codeReasons = {
  exact: 'EXACT_LOINC_SET',
  subset: 'SUBSET',
  superset: 'SUPERSET',
  overlap: 'OVERLAP',
} as const satisfies Partial<Record<Relation, ReasonCode>>

function compareCodes(
  query: string[],
  candidateCodes: string[],
): { relation: keyof typeof codeReasons; share: number } | undefined {
  const codes = new Set(query)
  const shared = candidateCodes.filter((code) => codes.has(code)).length
  if (shared === 0) return undefined
  const overlap = shared / (query.length + candidateCodes.length - shared)
  if (overlap === 1) return { relation: 'exact', share: overlap }
  if (shared === candidateCodes.length) return { relation: 'subset', share: overlap }
  return { relation: shared === query.length ? 'superset' : 'overlap', share: overlap }
}

/** Similarity of the names, and of the synonyms. */
function nameSimilarity(query: Names, candidate: Names): { primary: number; synonym: number } {
  const primary = similarity(query.primary, candidate.primary)
  const others = [
    ...query.synonyms.map((synonym) => [synonym, candidate.primary] as const),
    ...candidate.synonyms.map((synonym) => [query.primary, synonym] as const),
  ]
  return { primary, synonym: Math.max(0, ...others.map(([a, b]) => similarity(a, b))) }
}

/** The match of an item with a query; undefined if they have nothing in common. */
function match(query: MatchQuery, candidate: MatchQuery): Match | undefined {
  const byCodes = compareCodes(query.loinc_codes, candidate.loinc_codes)
  const { primary, synonym } = nameSimilarity(query.names, candidate.names)
  const reasons: ReasonCode[] = primary >= NAME_REASON_MIN ? ['NAME_MATCH'] : synonym >= NAME_REASON_MIN ? ['SYNONYM_MATCH'] : []
  if (!byCodes) {
    const alike = Math.max(primary, synonym)
    if (alike < SIMILARITY_MIN) return undefined
    const reason_codes: ReasonCode[] = reasons.length ? reasons : [primary >= synonym ? 'NAME_MATCH' : 'SYNONYM_MATCH']
    return { relation: 'suggested', confidence: roundConfidence(NAME_ONLY_CONFIDENCE_MAX * alike), reason_codes }
  }
  const { relation, share: overlap } = byCodes
  const confidence = relation === 'exact' ? 1 : relation === 'overlap' ? 0.3 + 0.5 * overlap : 0.5 + 0.45 * overlap
  return { relation, confidence: roundConfidence(confidence), reason_codes: [codeReasons[relation], ...reasons] }
}

const rank = ({ relation }: Match): number => relations.indexOf(relation)

interface Hit<F> {
  candidate: F
  how: Match
  alike: number
}

/** The best matches of an index, by relation and then confidence. Names are compared only if codes yield too few. */
export function findBest<F extends MatchQuery>(
  query: MatchQuery,
  index: SearchIndex<F>,
  limit: number,
  isMeant: (candidate: F, how: Match) => boolean = () => true,
): Hit<F>[] {
  const seen = new Set<F>()
  const hits: Hit<F>[] = []
  const collectHits = (candidate: F) => {
    if (seen.has(candidate)) return
    seen.add(candidate)
    const how = match(query, candidate)
    if (how && isMeant(candidate, how))
      hits.push({ candidate, how, alike: similarity(query.names.primary, candidate.names.primary) })
  }
  for (const code of query.loinc_codes) index.byCode.get(code)?.forEach(collectHits)
  if (hits.length < limit) for (const word of wordsIn(query.names)) index.byWord.get(word)?.forEach(collectHits)
  return hits
    .sort((a, b) => rank(a.how) - rank(b.how) || b.how.confidence - a.how.confidence || b.alike - a.alike)
    .slice(0, limit)
}

/** How well a typed text names a canonical: by name, synonym or code. 0 to 1. */
function nameScore(text: string, canonical: Canonical): number {
  const code = text.trim().toLowerCase()
  if (canonical.items.some(({ provider_id }) => provider_id.toLowerCase() === code)) return 1
  if (canonical.loinc_codes.includes(code)) return canonical.loinc_codes.length === 1 ? 1 : 0.5
  const queryForms = [normalizeName(text), expandAbbreviations(text)].filter((form): form is NormalizedName => form !== undefined)
  const { primary, synonyms } = canonical.names
  const direct = Math.max(...queryForms.map((form) => similarity(form, primary)))
  return Math.max(
    direct,
    0.97 * Math.max(0, ...queryForms.flatMap((form) => synonyms.map((synonym) => similarity(form, synonym)))),
  )
}

/** The canonicals that a text names, best first. */
export function findByName(text: string, canonicals: Canonical[], limit: number): { canonical: Canonical; confidence: number }[] {
  return canonicals
    .map((canonical) => ({ canonical, confidence: roundConfidence(nameScore(text, canonical)) }))
    .filter(({ confidence }) => confidence >= SIMILARITY_MIN)
    .sort(
      (a, b) =>
        b.confidence - a.confidence ||
        b.canonical.popularity - a.canonical.popularity ||
        a.canonical.loinc_codes.length - b.canonical.loinc_codes.length,
    )
    .slice(0, limit)
}

const distinct = (values: string[]): string[] => [...new Set(values)]

export const toCanonicalCandidate = (canonical: Canonical, confidence: number): CanonicalCandidate =>
  withNulls(CanonicalCandidate, {
    ...canonical,
    provider_ids: distinct(canonical.items.map(({ provider_id }) => provider_id)),
    loinc_groups: [],
    cpt_codes: distinct(canonical.items.flatMap(({ cpt_codes }) => cpt_codes)),
    popularity_score: roundConfidence(canonical.popularity),
    confidence,
  })

export const toRelatedCandidate = (canonical: Canonical, how: Match): RelatedCandidate => ({
  canonical: toCanonicalCandidate(canonical, how.confidence),
  ...how,
})

export const toPerLabCandidate = ({ canonicals }: Compendium, item: Item, how: Match): PerLabCandidate =>
  withNulls(PerLabCandidate, {
    ...item,
    loinc_groups: [],
    ...how,
    marker_popularity_score: roundConfidence(canonicals.get(item.loinc_set_hash)?.popularity ?? 0),
  })
