// Sources as the JavaScript of a package: Node strips no types of files below `node_modules`.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

/** A source file without its types. Relative imports, and the files of threads: `./x.ts` is `./x.js` there. */
export function withoutTypes(path: string): string {
  const text = readFileSync(path, 'utf8')
  return withScriptNames(path.endsWith('.ts') ? stripTypeScriptTypes(text, { mode: 'strip' }) : text)
}

export const withScriptNames = (text: string): string =>
  text
    .replace(/((?:from|import) |import\()'(\.{1,2}\/[^']*)\.ts'/g, "$1'$2.js'")
    .replace(/new URL\('([^']*)\.ts', import\.meta\.url\)/g, "new URL('$1.js', import.meta.url)")
