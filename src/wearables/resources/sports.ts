// Sports of workouts: one sport has one slug, whatever its source calls it.
import { createHash } from 'node:crypto'
import { sportNames } from './sport-names.ts'

/** Letters that Unicode does not decompose into a letter of ASCII and marks. */
const letters: ReadonlyMap<string, string> = new Map(
  `ß ss æ ae œ oe ø o ð d đ d þ th ł l ħ h ı i ŋ n ŧ t ĸ k ə e
   α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o
   а a б b в v г g ґ g д d е e є ye ж zh з z и i і i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts
   ч ch ш sh щ shch ы y э e ю yu я ya ђ dj ј j љ lj њ nj ћ c џ dz ѕ dz`
    .match(/\S+ \S+/g)!
    .map((pair) => pair.split(' ') as [string, string]),
)
/** A name of a hundred characters in another script would have a slug of seven hundred. */
const LENGTH_MAX = 100

/** Letters of Cyrillic that have no sound of their own. */
const silent = /[ъь]/g

/** By each slug of a name: the name that is shown. */
const shown: ReadonlyMap<string, string> = new Map(
  sportNames
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', others = ''] = line.split(':')
      return [slugOf(name), ...(others.match(/\w+/g) ?? [])].map((slug) => [slug, name] as const)
    }),
)

/** The sport of distances that were covered by wheelchair. Source: events.md 2. */
export const WHEELCHAIR = 'wheelchair_pushing'

/**
 * A sport by the name that a phone, a vendor or a file has for it; one that is not in the list has the name of its source. Its number means
 * nothing; readers go by the slug.
 */
export function sportOf(sentName: string): { id: number; name: string; slug: string } {
  const name = shown.get(slugOf(sentName)) ?? sentName
  const slug = slugOf(name) || 'other'
  return { id: createHash('sha256').update(slug).digest().readUInt16BE(0), name, slug }
}

/**
 * The slug of a name: `Völkerball` is `volkerball`. Letters with marks lose them, Greek and Cyrillic letters are transliterated. A name
 * in another script has code points instead (`u7fbd_u6bdb_u7403`), so that two names have two slugs. Empty without letters and digits;
 * at most 100 characters.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(silent, '')
  const ascii = plain.replace(/[^\0-\x7f]/gu, (letter) => {
    const known = letters.get(letter)
    if (known !== undefined) return known
    return /[\p{Letter}\p{Number}]/u.test(letter) ? ` u${letter.codePointAt(0)!.toString(16)} ` : ' '
  })
  return ascii
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, LENGTH_MAX)
    .replace(/_$/, '')
}
