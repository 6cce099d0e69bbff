// Slugs of names: lower case letters and digits of ASCII, joined by underscores.

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
