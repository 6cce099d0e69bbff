// Letters out of the outputs of the recognizer.

/** A letter of a line. */
export interface Letter {
  text: string
  /** The place of its middle, from 0 to 1 along the line. */
  position: number
  /** From 0 to 1. */
  confidence: number
}

/** Letters that reports do not have are replaced with letters that look the same. */
const SAME: Record<string, string> = {
  μ: 'µ',
  '、': ',',
  '。': '.',
  '—': '-',
  '－': '-',
  '─': '-',
  '∶': ':',
  '″': '"',
  '“': '"',
  '”': '"',
  '‘': "'",
  '’': "'",
  '′': "'",
  '､': ',',
  '∣': '|',
  '│': '|',
  '㎡': 'm²',
  '㎏': 'kg',
  '℃': '°C',
  '～': '~',
  '•': '•',
  '‧': '·',
  '●': '•',
  '▲': '▲',
  '▼': '▼',
}
/** In addition to ASCII: what units, ranges, names and flags are written with. */
const OTHERS = new Set('±×÷°²‰≤≥≈β α ε γ π Ω Φ Δ é è ü ä ö á í ó ú É Ü à ò ì ® ™ § ↑ ↓ → ·'.replaceAll(' ', ''))

/** What each class of the recognizer stands for: undefined for letters that no English report has. The first class is none, the last a space. */
export function alphabetOf(keys: readonly string[]): (string | undefined)[] {
  return [undefined, ...keys.map(letterOf), ' ']
}

function letterOf(key: string): string | undefined {
  const same = SAME[key]
  if (same !== undefined) return same
  const code = key.codePointAt(0)!
  // Wide forms of ASCII.
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCodePoint(code - 0xfee0)
  return (code > 0x20 && code < 0x7f) || OTHERS.has(key) ? key : undefined
}

/** A share that decides alone. */
const CERTAIN = 0.5
/** No letter is more likely at a place, but neither is it certain: a letter with this share counts where its neighbors are surely none. */
const WEAK_MIN = { letter: 0.2, inNumber: 0.3 }
const NONE_CERTAIN = 0.9

/**
 * The letters of a line.
 * @param shares for each place, from the left, the share of each class of the alphabet
 */
export function decodeLetters(shares: Float32Array, alphabet: readonly (string | undefined)[]): Letter[] {
  const classes = alphabet.length
  const known = alphabet.flatMap((letter, index) => (letter === undefined ? [] : [index]))
  const places = Math.trunc(shares.length / classes)
  const letters: Letter[] = []
  let last = 0
  let best = 0
  for (let place = 0; place < places; place++) {
    const start = place * classes
    let [chosen, share] = [0, shares[start]!]
    const isAlone =
      (place === 0 || shares[start - classes]! > NONE_CERTAIN) &&
      (place === places - 1 || shares[start + classes]! > NONE_CERTAIN)
    if (share < CERTAIN || (isAlone && share < 1 - WEAK_MIN.letter)) {
      let rest = 1 - share
      let [letter, most] = [0, 0]
      for (const index of known) {
        const value = shares[start + index]!
        rest -= value
        if (value > most) [letter, most] = [index, value]
      }
      const weak = /[\d.,]/u.test(alphabet[letter] ?? '') ? WEAK_MIN.inNumber : WEAK_MIN.letter
      // Otherwise a sign is there that no report has: use the letter that looks most like it, with low confidence.
      if (letter && (most >= share || rest > CERTAIN || (isAlone && most > weak && alphabet[letter] !== ' ')))
        [chosen, share] = [letter, most]
    }
    if (chosen && chosen === last) {
      // The same letter at the next place: its middle is where it is clearest.
      const letter = letters.at(-1)!
      if (share > best) {
        best = share
        letter.position = (place + 0.5) / places
        letter.confidence = share
      }
    } else if (chosen) {
      letters.push({ text: alphabet[chosen]!, position: (place + 0.5) / places, confidence: share })
      best = share
    }
    last = chosen
  }
  return letters
}

/** Of each class at each place, so that a text is never impossible because of one letter. */
const SHARE_MIN = 1e-4

/**
 * How likely a text is by the outputs of the recognizer: the logarithm of the share of all ways in which its letters can stand at the places, each
 * at one or more. Spaces count as no letter. Source: A. Graves et al., Connectionist Temporal Classification, 2006, section 4.1.
 * @param text letters without spaces
 */
export function textLikelihood(text: readonly string[], shares: Float32Array, alphabet: readonly (string | undefined)[]): number {
  const classes = alphabet.length
  const classesOf = new Map<string, number[]>([...text, ' '].map((letter) => [letter, []]))
  for (let index = 0; index < classes; index++) classesOf.get(alphabet[index] ?? '')?.push(index)
  const shareAt = (place: number, indices: readonly number[]): number =>
    indices.reduce((sum, index) => sum + shares[place * classes + index]!, SHARE_MIN)
  const none = [0, ...classesOf.get(' ')!]
  // A state is a letter or what lies between two letters, which only different letters may skip.
  const states = [none, ...text.flatMap((letter) => [classesOf.get(letter)!, none])]
  let reached = states.map((_, state) => Number(state === 0))
  let logarithm = 0
  for (let place = 0; place < Math.trunc(shares.length / classes); place++) {
    const next = states.map((classesHere, state) => {
      const skips = classesHere !== none && classesHere !== states[state - 2]
      const before = reached[state]! + (reached[state - 1] ?? 0) + (skips ? (reached[state - 2] ?? 0) : 0)
      return before && before * shareAt(place, classesHere)
    })
    const sum = next.reduce((total, share) => total + share, 0)
    if (!sum) return -Infinity
    logarithm += Math.log(sum)
    reached = next.map((share) => share / sum)
  }
  return logarithm + Math.log(reached.at(-1)! + (text.length ? reached.at(-2)! : 0))
}
