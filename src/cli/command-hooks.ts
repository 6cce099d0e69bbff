// The hooks of the server, for commands that change orders: what depends on an order continues as after a request.
import type { Call } from './command-tree.ts'
import { openVault } from '../platform/crypto/key-file.ts'
import type { Hooks } from '../platform/db/hooks.ts'

export async function commandHooks(config: Call['config']): Promise<Hooks> {
  const { contentsWith } = await import('../app/contents.ts')
  const { encryption_keys, data_dir, public_url = '' } = config
  const known = { settings: config, vault: openVault(encryption_keys, data_dir), publicUrl: () => public_url }
  return contentsWith(known).hooks
}
