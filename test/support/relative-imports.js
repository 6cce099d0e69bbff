// Makes loading the program a third cheaper for tests: an import of a file by its relative path names that file already, so Node need not
// look for it, follow symbolic links and read `package.json` for its format. JavaScript, so that processes that import it first do not load
// the TypeScript compiler for it; an older Node, which has no such hooks, goes on without.
import module from 'node:module'

const FORMATS = { ts: 'module-typescript', mjs: 'module' }

module.registerHooks?.({
  resolve(specifier, context, next) {
    const format = specifier.startsWith('.') ? FORMATS[specifier.slice(specifier.lastIndexOf('.') + 1)] : undefined
    if (!format || !context.parentURL?.startsWith('file:')) return next(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true }
  },
})
