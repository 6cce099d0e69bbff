// Finds terms by name: exact names first, then names with characters that recognition confuses, then names that share words. Pure.
import { type NameParts, namesSpecimen } from './name-text.ts'
import { confusionKeyOf, foldText, isRatio, nameKeys, tokensOf } from './name-words.ts'
import type { Term } from './terms.ts'

export interface NameHit {
  term: Term
  /** 1 for the very name; less for part of it, for confused characters and for shared words. */
  quality: number
  /** The name is written for this code and not for its component alone. */
  isOwnName: boolean
  isExact: boolean
}

interface Entry {
  term: Term
  isOwnName: boolean
}

interface IndexedName {
  term: Term
  isOwnName: boolean
  /** No report prints it: the official long or short name. */
  isOfficial: boolean
  tokens: readonly string[]
  weight: number
}

export interface NameIndex {
  exact: Map<string, Entry[]>
  /** Keys of names of which it is known that they mean none of the terms. */
  withoutTerm: ReadonlySet<string>
  byConfusionKey: Map<string, Entry[]>
  /** Token → numbers of names. */
  words: Map<string, number[]>
  names: IndexedName[]
  rarity: Map<string, number>
}

const FUZZY_MAX = 40
/** Factor for a name that has not each word of what was asked, or is that of a ratio: `Vitamin K1` is not another vitamin. */
const ANOTHER_WORD = 0.57
/** Certainty of a reading below which only a part of the name was found. */
const EXACT_FROM = 0.95
/** Only words this rare decide which names are compared. */
const SIMILAR_FROM = 0.45

function put(map: Map<string, Entry[]>, key: string, entry: Entry): void {
  const there = map.get(key)
  if (!there) map.set(key, [entry])
  else if (!there.some(({ term }) => term === entry.term)) there.push(entry)
  else if (entry.isOwnName) for (const old of there) if (old.term === entry.term) old.isOwnName = true
}

/** Builds an index of terms, and of names that mean none of them. 3,000 terms take about 150 ms. */
export function buildNameIndex(terms: readonly Term[], namesWithoutTerm: readonly string[] = []): NameIndex {
  const index: NameIndex = {
    exact: new Map(),
    withoutTerm: new Set(namesWithoutTerm.flatMap((name) => nameKeys(name))),
    byConfusionKey: new Map(),
    words: new Map(),
    names: [],
    rarity: new Map(),
  }
  const known = new Map<string, { tokens: string[]; keys: string[]; confusionKey: string }>()
  // Terms of a component share names.
  const read = (name: string): { tokens: string[]; keys: string[]; confusionKey: string } => {
    const there = known.get(name)
    if (there) return there
    const tokens = tokensOf(name)
    const one = { tokens, keys: nameKeys(name, tokens), confusionKey: confusionKeyOf(tokens) }
    known.set(name, one)
    return one
  }
  for (const term of terms) {
    const names: [string, boolean][] = term.aliases.map((name) => [name, true])
    names.push(
      ...term.sharedAliases.map((name): [string, boolean] => [name, false]),
      [term.displayName, false],
      [term.longName, true],
    )
    if (term.shortName) names.push([term.shortName, true])
    const seen = new Set<string>()
    for (const [name, isOwnName] of names) {
      const { tokens, keys, confusionKey } = read(name)
      if (keys.length === 0 || seen.has(keys[0]!)) continue
      seen.add(keys[0]!)
      for (const key of keys) put(index.exact, key, { term, isOwnName })
      if (confusionKey.length >= 4) put(index.byConfusionKey, confusionKey, { term, isOwnName })
      const isOfficial = name === term.longName || name === term.shortName
      const number = index.names.push({ term, isOwnName, isOfficial, tokens: [...new Set(tokens)], weight: 0 }) - 1
      for (const token of new Set(tokens)) {
        const list = index.words.get(token)
        if (list) list.push(number)
        else index.words.set(token, [number])
      }
    }
  }
  const total = index.names.length
  for (const [token, numbers] of index.words) index.rarity.set(token, Math.log(1 + total / numbers.length))
  for (const name of index.names) name.weight = name.tokens.reduce((sum, token) => sum + index.rarity.get(token)!, 0)
  return index
}

/** Terms with this name, best first. Exact names hide similar ones. */
export function findByName(index: NameIndex, name: NameParts): NameHit[] {
  const whole = name.readings[0]
  if (name.parts.length > 1 && whole && !nameKeys(whole.text, whole.tokens).some((key) => index.exact.has(key))) {
    const hits = namedByEveryPart(index, name.parts)
    if (hits) return hits
  }
  for (const { text, tokens, certainty, isInBrackets } of name.readings) {
    const keys = nameKeys(text, tokens)
    const entries = keys.flatMap((key) => index.exact.get(key) ?? [])
    // What only resembles a name that is known to mean something else is no candidate.
    if (entries.length === 0 && certainty >= EXACT_FROM && keys.some((key) => index.withoutTerm.has(key))) return []
    if (entries.length === 0) continue
    const hits = unique(entries).map(({ term, isOwnName }) => ({
      term,
      quality: certainty,
      isOwnName,
      // What stands before the brackets may say something else: `Thyroxine (T4) index`.
      isExact: certainty >= EXACT_FROM && (!isInBrackets || isSaidOutside(index, term, name)),
    }))
    const more = [...hits, ...siblings(index, name, hits)]
    // Part of a name says less than all of its words do.
    return certainty < PART_OF_NAME ? bestOfEach([...more, ...findSimilar(index, name)]) : more
  }
  for (const { tokens, certainty } of name.readings) {
    const entries = index.byConfusionKey.get(confusionKeyOf(tokens))
    if (entries)
      return unique(entries).map(({ term, isOwnName }) => ({ term, quality: 0.88 * certainty, isOwnName, isExact: false }))
  }
  return findSimilar(index, name)
}

/** Whether a name is, word for word, that of a term, or one that is known to have none: no fuzzy search. */
export function isExactName(index: NameIndex, name: NameParts): boolean {
  const isThere = ({ text, tokens }: { text: string; tokens: string[] }) =>
    nameKeys(text, tokens).some((key) => index.exact.has(key) || index.withoutTerm.has(key))
  if (name.readings.some((reading) => reading.certainty >= EXACT_FROM && isThere(reading))) return true
  return name.parts.length > 1 && namedByEveryPart(index, name.parts) !== undefined
}

/** Whether the words before brackets name the same component, or none that differs: no word but those of method and specimen. */
function isSaidOutside(index: NameIndex, term: Term, { outsideBrackets: outside }: NameParts): boolean {
  if (isTermName(index, term, outside)) return true
  return tokensOf(outside).every((token) =>
    index.words.get(token)?.some((number) => index.names[number]!.term.component === term.component),
  )
}

/** Terms of the same components that less literal readings of the name find: one name in another unit or by another method. */
function siblings(index: NameIndex, name: NameParts, hits: readonly NameHit[]): NameHit[] {
  const known = new Set(hits.map(({ term }) => term))
  const components = new Set(hits.map(({ term }) => term.component))
  const more = new Map<Term, NameHit>()
  for (const { text, tokens, certainty } of name.readings)
    for (const key of nameKeys(text, tokens))
      for (const { term } of index.exact.get(key) ?? [])
        if (!known.has(term) && components.has(term.component) && !more.has(term))
          more.set(term, { term, quality: Math.min(certainty, 0.97), isOwnName: false, isExact: certainty >= 0.95 })
  return [...more.values()]
}

/**
 * Terms that every part of a name names: "SGOT / AST", "ALT - SGPT". Undefined if the parts name different components, or one of them none.
 */
function namedByEveryPart(index: NameIndex, parts: readonly string[]): NameHit[] | undefined {
  let common: Map<Term, Entry> | undefined
  for (const part of parts) {
    const entries = unique(nameKeys(part).flatMap((key) => index.exact.get(key) ?? []))
    const before = common
    common = new Map(entries.filter(({ term }) => before === undefined || before.has(term)).map((entry) => [entry.term, entry]))
    if (common.size === 0) return undefined
  }
  return [...(common ?? new Map<Term, Entry>()).values()].map(({ term }) => ({
    term,
    quality: 0.98,
    isOwnName: false,
    isExact: true,
  }))
}

/** Whether one of the texts is, by itself, a name of the term. */
export const isTermName = (index: NameIndex, term: Term, text: string): boolean =>
  nameKeys(text).some((key) => index.exact.get(key)?.some((entry) => entry.term.component === term.component))

/**
 * Whether each word of a text is in the names by which reports print a term, as `(Conjugated)` next to `Bilirubin, Direct`. Of a sum, a part is something
 * else; numbers and single letters are in names of many meanings.
 */
export function isSaidByTerm(index: NameIndex, term: Term, text: string): boolean {
  const tokens = tokensOf(text)
  const isSaid = (number: number) => index.names[number]!.term === term && !index.names[number]!.isOfficial
  return (
    tokens.length > 0 &&
    !term.component.includes('+') &&
    tokens.every((token) => /^\p{L}{3,}$/u.test(token) && index.words.get(token)?.some(isSaid))
  )
}

const PART_OF_NAME = 0.9

function bestOfEach(hits: readonly NameHit[]): NameHit[] {
  const best = new Map<Term, NameHit>()
  for (const hit of hits) if ((best.get(hit.term)?.quality ?? 0) < hit.quality) best.set(hit.term, hit)
  return [...best.values()]
}

function unique(entries: readonly Entry[]): Entry[] {
  const byTerm = new Map<Term, Entry>()
  for (const entry of entries) {
    const there = byTerm.get(entry.term)
    if (!there || (entry.isOwnName && !there.isOwnName)) byTerm.set(entry.term, entry)
  }
  return [...byTerm.values()]
}

/** Names that share words, by the rarity of the words; a word with one different letter counts a little less. */
export function findSimilar(index: NameIndex, name: NameParts): NameHit[] {
  const best = new Map<Term, NameHit>()
  for (const { text, tokens, certainty } of name.readings.slice(0, 6)) {
    const asked = [...new Set(tokens)].map((token) => ({ token, near: nearestWord(index, token) }))
    const weight = asked.reduce((sum, { token, near }) => sum + (index.rarity.get(near?.word ?? token) ?? 6), 0)
    const shared = new Map<number, { sum: number; count: number }>()
    // Numbers behind a name may be those of notes.
    const telling = asked.filter(({ token, near }) => near || !/^\d+$/u.test(token)).length
    // `Blood` is in names of what is measured in it.
    if (asked.every(({ token }) => namesSpecimen(token))) continue
    for (const { near } of asked)
      if (near)
        for (const number of index.words.get(near.word)!) {
          const { sum, count } = shared.get(number) ?? { sum: 0, count: 0 }
          shared.set(number, { sum: sum + index.rarity.get(near.word)! * near.likeness, count: count + 1 })
        }
    for (const [number, { sum, count }] of shared) {
      const { term, isOwnName, weight: other, tokens: own } = index.names[number]!
      const isAnother = count < telling || (own.includes('ratio') && !isRatio(text))
      const similarity = (2 * sum) / (weight + other)
      if (similarity < SIMILAR_FROM) continue
      const quality = Math.min(0.85, 0.3 + 0.6 * similarity) * certainty * (isAnother ? ANOTHER_WORD : 1)
      if ((best.get(term)?.quality ?? 0) < quality) best.set(term, { term, quality, isOwnName, isExact: false })
    }
  }
  return [...best.values()].sort((a, b) => b.quality - a.quality || a.term.rank - b.term.rank).slice(0, FUZZY_MAX)
}

function nearestWord(index: NameIndex, token: string): { word: string; likeness: number } | undefined {
  if (index.words.has(token)) return { word: token, likeness: 1 }
  if (token.length < 5) return undefined
  let found: string | undefined
  for (const word of index.words.keys())
    if (Math.abs(word.length - token.length) <= 1 && word.length >= 5 && isOneEditApart(word, token)) {
      if (found === undefined || index.rarity.get(word)! < index.rarity.get(found)!) found = word
    }
  if (found !== undefined) return { word: found, likeness: 0.85 }
  // An abbreviated word: "creatin", "immunoglob".
  if (token.length >= 5) for (const word of index.words.keys()) if (word.startsWith(token)) return { word, likeness: 0.8 }
  return undefined
}

/** Whether one letter is changed, added, missing, or swapped with its neighbor. */
function isOneEditApart(a: string, b: string): boolean {
  if (a === b) return true
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--
    endB--
  }
  const [left, right] = [endA - start, endB - start]
  if (left <= 1 && right <= 1) return true
  return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start]
}

/** Texts in brackets of a name; brackets within them are part of the text: `[Lp(a)]`. */
export const bracketsIn = (name: string): string[] =>
  [...foldText(name).matchAll(/[([{]((?:[^()[\]{}]|\([^()[\]{}]*\))+)[)\]}]?/g)].map(([, text]) => text!.trim())
