// Compares sets of LOINC codes and names: their relation and its confidence. Pure. Source: lab-testing.md 27.
import { type Canonical, type Compendium, type Item, type Names, type SearchIndex, type MatchQuery, wordsIn } from './model.ts'
import { normalizeName, similarity, expandAbbreviations, type NormalizedName } from './name-similarity.ts'
import {
  relations,
  type CanonicalCandidate,
  type PerLabCandidate,
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

const rounded = (confidence: number): number => Math.round(confidence * 1000) / 1000

const codeReasons = {
  exact: 'EXACT_LOINC_SET',
  subset: 'SUBSET',
  superset: 'SUPERSET',
  overlap: 'OVERLAP',
} as const satisfies Partial<Record<Relation, ReasonCode>>

function relationOf(query: string[], found: string[]): { relation: keyof typeof codeReasons; share: number } | undefined {
  const codes = new Set(query)
  const shared = found.filter((code) => codes.has(code)).length
  if (shared === 0) return undefined
  const overlap = shared / (query.length + found.length - shared)
  if (overlap === 1) return { relation: 'exact', share: overlap }
  if (shared === found.length) return { relation: 'subset', share: overlap }
  return { relation: shared === query.length ? 'superset' : 'overlap', share: overlap }
}

/** Similarity of the names, and of the synonyms. */
function nameSimilarity(query: Names, found: Names): { own: number; synonym: number } {
  const primary = similarity(query.own, found.own)
  const others = [
    ...query.synonyms.map((each) => [each, found.own] as const),
    ...found.synonyms.map((each) => [query.own, each] as const),
  ]
  return { own: primary, synonym: Math.max(0, ...others.map(([a, b]) => similarity(a, b))) }
}

/** The match of an item with a query; undefined if they have nothing in common. */
export function match(query: MatchQuery, found: MatchQuery): Match | undefined {
  const byCodes = relationOf(query.loinc_codes, found.loinc_codes)
  const { own: primary, synonym } = nameSimilarity(query.names, found.names)
  const reasons: ReasonCode[] = primary >= NAME_REASON_MIN ? ['NAME_MATCH'] : synonym >= NAME_REASON_MIN ? ['SYNONYM_MATCH'] : []
  if (!byCodes) {
    const alike = Math.max(primary, synonym)
    if (alike < SIMILARITY_MIN) return undefined
    const reason_codes: ReasonCode[] = reasons.length ? reasons : [primary >= synonym ? 'NAME_MATCH' : 'SYNONYM_MATCH']
    return { relation: 'suggested', confidence: rounded(NAME_ONLY_CONFIDENCE_MAX * alike), reason_codes }
  }
  const { relation, share: overlap } = byCodes
  const confidence = relation === 'exact' ? 1 : relation === 'overlap' ? 0.3 + 0.5 * overlap : 0.5 + 0.45 * overlap
  return { relation, confidence: rounded(confidence), reason_codes: [codeReasons[relation], ...reasons] }
}

const rank = ({ relation }: Match): number => relations.indexOf(relation)

interface Hit<F> {
  found: F
  how: Match
  alike: number
}

/** The best matches of an index, by relation and then confidence. Names are compared only if codes yield too few. */
export function findBest<F extends MatchQuery>(
  query: MatchQuery,
  index: SearchIndex<F>,
  limit: number,
  isMeant: (found: F, how: Match) => boolean = () => true,
): Hit<F>[] {
  const seen = new Set<F>()
  const hits: Hit<F>[] = []
  const collectHits = (found: F) => {
    if (seen.has(found)) return
    seen.add(found)
    const how = match(query, found)
    if (how && isMeant(found, how)) hits.push({ found, how, alike: similarity(query.names.own, found.names.own) })
  }
  for (const code of query.loinc_codes) index.byCode.get(code)?.forEach(collectHits)
  if (hits.length < limit) for (const word of wordsIn(query.names)) index.byWord.get(word)?.forEach(collectHits)
  return hits
    .sort((a, b) => rank(a.how) - rank(b.how) || b.how.confidence - a.how.confidence || b.alike - a.alike)
    .slice(0, limit)
}

/** How well a typed text names a canonical: by name, synonym or code. 0 to 1. */
export function nameScore(text: string, canonical: Canonical): number {
  const code = text.trim().toLowerCase()
  if (canonical.items.some(({ provider_id }) => provider_id.toLowerCase() === code)) return 1
  if (canonical.loinc_codes.includes(code)) return canonical.loinc_codes.length === 1 ? 1 : 0.5
  const queryForms = [normalizeName(text), expandAbbreviations(text)].filter((each): each is NormalizedName => each !== undefined)
  const { own: primary, synonyms } = canonical.names
  const direct = Math.max(...queryForms.map((each) => similarity(each, primary)))
  return Math.max(direct, 0.97 * Math.max(0, ...queryForms.flatMap((each) => synonyms.map((other) => similarity(each, other)))))
}

/** The canonicals that a text names, best first. */
export function findByName(text: string, among: Canonical[], limit: number): { canonical: Canonical; confidence: number }[] {
  return among
    .map((canonical) => ({ canonical, confidence: rounded(nameScore(text, canonical)) }))
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

export const toCanonicalCandidate = (canonical: Canonical, confidence: number): CanonicalCandidate => ({
  loinc_set_hash: canonical.loinc_set_hash,
  display_name: canonical.display_name,
  aliases: canonical.aliases,
  loinc_codes: canonical.loinc_codes,
  provider_ids: distinct(canonical.items.map(({ provider_id }) => provider_id)),
  loinc_components: canonical.loinc_components,
  loinc_groups: [],
  cpt_codes: distinct(canonical.items.flatMap(({ cpt_codes }) => cpt_codes)),
  popularity_score: rounded(canonical.popularity),
  confidence,
})

export const toRelatedCandidate = (canonical: Canonical, how: Match): RelatedCandidate => ({
  canonical: toCanonicalCandidate(canonical, how.confidence),
  ...how,
})

export const toPerLabCandidate = ({ canonicals }: Compendium, item: Item, how: Match): PerLabCandidate => ({
  marker_id: item.marker_id,
  lab_id: item.lab_id,
  lab_slug: item.lab_slug,
  name: item.name,
  result_names: item.result_names,
  provider_id: item.provider_id,
  loinc_set_hash: item.loinc_set_hash,
  loinc_codes: item.loinc_codes,
  loinc_components: item.loinc_components,
  loinc_groups: [],
  cpt_codes: item.cpt_codes,
  ...how,
  marker_popularity_score: rounded(canonicals.get(item.loinc_set_hash)?.popularity ?? 0),
})
