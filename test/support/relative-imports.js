// Makes loading the program a third cheaper for tests: an import of a file by its relative path names that file already, so Node need not
// look for it, follow symbolic links and read `package.json` for its format. JavaScript, so that processes that import it first do not load
// the TypeScript compiler for it; an older Node, which has no such hooks, goes on without. With `?program=FOLDER` the entry of the program,
// and with `?typebox=FOLDER` an import of typebox, loads what `program-bundle.ts` has written there. `?statements=FOLDER` turns on
// `test/statements/log.js`.
import module from 'node:module'

const FORMATS = { ts: 'module-typescript', mjs: 'module' }
const sources = new URL('../../src/', import.meta.url).href
const bundles = new URL(import.meta.url).searchParams
const [program, typebox, statements] = ['program', 'typebox', 'statements'].map((name) => bundles.get(name))
const bundled = (url) => ({ url, format: 'module', shortCircuit: true })

module.registerHooks?.({
  resolve(specifier, context, next) {
    if (typebox && /^typebox(\/|$)/.test(specifier)) return bundled(`${typebox}${specifier}.mjs`)
    const format = specifier.startsWith('.') ? FORMATS[specifier.slice(specifier.lastIndexOf('.') + 1)] : undefined
    if (!format || !context.parentURL?.startsWith('file:')) return next(specifier, context)
    const { href } = new URL(specifier, context.parentURL)
    if (program && context.parentURL === `${sources}cli/entry.js`)
      return bundled(program + href.slice(sources.length).replace(/ts$/, 'mjs'))
    return { url: href, format, shortCircuit: true }
  },
})

if (statements) await import(`../statements/log.js?folder=${encodeURIComponent(statements)}`)
