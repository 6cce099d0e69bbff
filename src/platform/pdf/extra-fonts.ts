/**
 * Fonts of the operator for characters that the embedded font lacks, such as Chinese ones: a document embeds the characters that it prints. A
 * server knows which characters there are; its threads, which draw, open the files.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread, workerData } from 'node:worker_threads'
import type * as fontkit from 'fontkit'

/** What threads that draw get with their start. */
export interface DrawingThreadData {
  document_fonts: readonly string[]
}

/** Whether a document can print a character that the embedded font lacks. */
export type CoversCharacter = (char: string) => boolean

/**
 * Scripts and signs whose characters are drawn one after the other, from left to right. Others, such as Arabic, need more than a font.
 */
const LAID_OUT =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Ethiopic}\p{Script=Cherokee}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{S}\u3000-\u303f\u30fb\u30fc\uff00-\uffef]$/u
const isLaidOut = (char: string): boolean => LAID_OUT.test(char) && !/\p{Extended_Pictographic}|\u3000/u.test(char)

const CODE_POINTS = 0x110000
const { resolve } = createRequire(import.meta.url)

/** Errors: Error with the file and the reason. */
export function openFont(file: string): fontkit.Font {
  try {
    const { create } = createRequire(import.meta.url)(resolve('fontkit')) as typeof fontkit
    const opened = create(readFileSync(file))
    const font = 'fonts' in opened ? opened.fonts[0]! : opened
    if (!font.characterSet.length) throw new Error('it has no characters')
    return font as fontkit.Font
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`DOCUMENT_FONTS names ${file}, which is not a font that can be read (${code ?? message}).`)
  }
}

/**
 * Which characters the files have. The fonts themselves are not kept. Errors: Error for a file that is not a font.
 * @param files TrueType and OpenType fonts, or collections, of which the first is taken
 */
export function coverageOf(files: readonly string[]): CoversCharacter {
  if (files.length === 0) return () => false
  const known = new Uint8Array(CODE_POINTS / 8)
  for (const file of files) for (const point of openFont(file).characterSet) known[point >> 3]! |= 1 << (point & 7)
  return (char) => {
    const point = char.codePointAt(0)!
    return isLaidOut(char) && (known[point >> 3]! & (1 << (point & 7))) !== 0
  }
}

const none: readonly string[] = []

/** The files of this thread; none in a server itself. */
export const filesOfThread = (): readonly string[] =>
  isMainThread ? none : ((workerData as Partial<DrawingThreadData> | null)?.document_fonts ?? none)

const opened = new Map<readonly string[], CoversCharacter>()

/** As `coverageOf` of the files of this thread, which are opened with the first text that needs them. */
export function threadCovers(char: string): boolean {
  const files = filesOfThread()
  let covers = opened.get(files)
  if (!covers) opened.set(files, (covers = coverageOf(files)))
  return covers(char)
}
