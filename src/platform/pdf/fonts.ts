/** The embedded fonts: Arimo, whose widths are those of Helvetica. A thread opens each style once, with its first document. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create, type Font } from 'fontkit'
import { filesOfThread, openFont } from './extra-fonts.ts'

const FILES = {
  regular: '400Regular/Arimo_400Regular.ttf',
  bold: '700Bold/Arimo_700Bold.ttf',
  italic: '400Regular_Italic/Arimo_400Regular_Italic.ttf',
} as const

export type FontStyle = keyof typeof FILES
export const fontStyles = Object.keys(FILES) as FontStyle[]

interface Glyph {
  id: number
  codePoints: [number]
  advanceWidth: number
}

/** A font as pdfkit embeds it: a document holds only the characters that it prints. */
export interface EmbeddableFont {
  /** The width of a character in thousandths of the size. */
  widthOf(codePoint: number): number
  hasGlyphForCodePoint(codePoint: number): boolean
}

/** A font of the operator, by its place in the list. */
export type ExtraFont = `extra-${number}`

const { resolve } = createRequire(import.meta.url)
const opened = new Map<FontStyle, EmbeddableFont>()

/** The font of a style. */
export function embeddableFont(style: FontStyle): EmbeddableFont {
  const known = opened.get(style)
  if (known) return known
  const added = withPlainLayout(create(readFileSync(resolve(`@expo-google-fonts/arimo/${FILES[style]}`))) as Font)
  opened.set(style, added)
  return added
}

const extra = new Map<string, EmbeddableFont>()

/** The fonts of the operator that this thread has, opened when a text first needs one. */
export function extraFonts(): [name: ExtraFont, font: EmbeddableFont][] {
  return filesOfThread().map((file, index) => {
    let font = extra.get(file)
    if (!font) extra.set(file, (font = withPlainLayout(openFont(file))))
    return [`extra-${index}`, font]
  })
}

/** The font for a character: that of the style, or one of the operator that has it. */
export function chooseFont(style: FontStyle, codePoint: number): [name: FontStyle | ExtraFont, font: EmbeddableFont] {
  const font = embeddableFont(style)
  if (codePoint < FIRST_EXTRA || filesOfThread().length === 0 || font.hasGlyphForCodePoint(codePoint)) return [style, font]
  return extraFonts().find(([, other]) => other.hasGlyphForCodePoint(codePoint)) ?? [style, font]
}

/** The embedded font has every character below. */
const FIRST_EXTRA = 0x370

/**
 * The font with one glyph for a character and without kerning: a text is as wide as its characters, and laying out takes a tenth of the time
 * that fontkit's shaping takes, which is for scripts that documents do not print. The glyphs are our own, since fontkit's keep the first
 * character that was asked for, also of an earlier document.
 */
function withPlainLayout(font: Font): EmbeddableFont {
  const glyphs = new Map<number, Glyph>()
  const glyphOf = (codePoint: number): Glyph => {
    const known = glyphs.get(codePoint)
    if (known) return known
    const { id, advanceWidth } = font.glyphForCodePoint(codePoint)
    const added: Glyph = { id, codePoints: [codePoint], advanceWidth }
    glyphs.set(codePoint, added)
    return added
  }
  const layout = (text: string) => {
    const run = Array.from(text, (char) => glyphOf(char.codePointAt(0)!))
    const positions = run.map(({ advanceWidth }) => ({ xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 }))
    return { glyphs: run, positions, advanceWidth: run.reduce((sum, { advanceWidth }) => sum + advanceWidth, 0) }
  }
  const widthOf = (codePoint: number) => (glyphOf(codePoint).advanceWidth * 1000) / font.unitsPerEm
  return Object.assign(Object.create(font) as Font, { layout, widthOf })
}
