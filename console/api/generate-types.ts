// Writes `console/api/schema.d.ts`: the types of the API, made from `api/openapi.json`. The file is not committed, because of its size.
import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Writes the types of every operation and schema of the OpenAPI document. */
export async function writeApiTypes(): Promise<void> {
  const document = JSON.parse(readFileSync(fileOf('../../api/openapi.json'), 'utf8'))
  const { default: openapiTypes, astToString } = await loadGenerator()
  writeFileSync(fileOf('schema.d.ts'), astToString(await openapiTypes(document, { silent: true })))
}

/** `openapi-typescript` builds its output with the programming interface of TypeScript 5, which TypeScript 7 does not have. */
async function loadGenerator(): Promise<typeof import('openapi-typescript')> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'typescript' && context.parentURL?.includes('/openapi-typescript/')
        ? next('../../test/support/typescript-5.ts', { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  })
  const generator = await import('openapi-typescript')
  hooks.deregister()
  return generator
}
