// The team that a command manages: its server, its management key and its path in the Management API. They come from the command line, else
// from the environment, else from `demo.json`.
import { UsageError, type CommandContext } from '../command-tree.ts'
import { readDemo } from '../demo-file.ts'
import { requireKnownCell, isHttpUrl, type ApiClient } from './api-client.ts'

export interface ManagedValues {
  cell?: string
  url?: string
  managementKey?: string
  org?: string
  team?: string
}

/** The server, with a management key, and the path of the team. @throws UsageError; Error if one of them is named nowhere */
export function openManagement(values: ManagedValues, env: CommandContext['env']): { server: ApiClient; path: string } {
  const cell = requireKnownCell(values, env)
  const url = values.url ?? env.DRAWBRIDGE_URL
  if (url !== undefined && !isHttpUrl(url)) throw new UsageError('--url must start with http:// or https://.')
  const [environment, region] = cell.split('-') as ['sandbox' | 'production', 'us' | 'eu']
  const demo = readDemo(env.DATA_DIR?.trim() || './data')
  const given = values.managementKey ?? env.DRAWBRIDGE_MANAGEMENT_KEY
  const named = { url: url ?? demo?.base_url, key: given ?? demo?.management_key }
  const org = values.org ?? demo?.org_id
  const team = values.team ?? demo?.teams[region]
  if (!named.url || !named.key || !org || !team)
    throw new Error('No demo data found in DATA_DIR. Specify --url, --management-key, --org and --team.')
  return {
    server: { url: named.url.replace(/\/+$/, ''), key: named.key, key_header: 'x-management-key' },
    path: `/v1/org/${encodeURIComponent(org)}/team/${encodeURIComponent(team)}/${environment}`,
  }
}
