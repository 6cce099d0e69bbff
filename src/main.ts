// The entry. What Node makes of the sources is kept beside the installed packages: the next start is faster and needs less memory.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/drawbridge', import.meta.url)))
const { main } = await import('./cli.ts')
await main(process.argv.slice(2))
