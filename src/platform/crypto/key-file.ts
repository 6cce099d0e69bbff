// The file of encryption keys in the data folder, newest first. It is created when the first secret is encrypted, and read again when it
// changes. Several processes on one folder use a new key without a restart.
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemNow } from '../runtime/clock.ts'
import { isVaultKey, generateVaultKey, Vault, VaultError } from './vault.ts'

/** How long a process may miss a change of the file if it reads no text of the new key. */
export const RELOAD_INTERVAL_MS = 2000

export class KeyFile {
  readonly path: string
  readonly #dataDir: string
  #keys: readonly string[] = []
  #state = ''
  #checked_ms = 0

  constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.path = join(dataDir, 'encryption.key')
  }

  get exists(): boolean {
    return existsSync(this.path)
  }

  /**
   * The keys, newest first. If the file has disappeared or holds no valid keys, a running process keeps its keys. VaultError: there are no
   * keys at all.
   * @param reload check the file even if it was checked a moment ago
   */
  load = (reload: boolean): readonly string[] => {
    const now_ms = systemNow().getTime()
    if (this.#keys.length && !reload && now_ms - this.#checked_ms < RELOAD_INTERVAL_MS) return this.#keys
    this.#checked_ms = now_ms
    if (!this.#keys.length && !this.exists) this.#createFile()
    const state = fileState(this.path)
    if (state === this.#state) return this.#keys
    const keys = state === undefined ? [] : parseKeys(this.path)
    if (keys.length && keys.every(isVaultKey)) {
      this.#keys = keys
      this.#state = state!
    } else if (!this.#keys.length) throw new VaultError(`${this.path} does not contain base64-encoded 32-byte keys.`)
    return this.#keys
  }

  /** Inserts a new key before the others. The file is replaced in one step and keeps its owner. */
  addKey(): void {
    const { uid, gid } = statSync(this.path)
    const next = `${this.path}.next`
    try {
      writeFileSync(next, `${[generateVaultKey(), ...parseKeys(this.path)].join('\n')}\n`, { mode: 0o600, flush: true })
      chmodSync(next, 0o600)
      const created = statSync(next)
      if (created.uid !== uid || created.gid !== gid) chownSync(next, uid, gid)
      renameSync(next, this.path)
    } finally {
      rmSync(next, { force: true })
    }
  }

  #createFile(): void {
    mkdirSync(this.#dataDir, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(this.path, `${generateVaultKey()}\n`, { mode: 0o600, flag: 'wx', flush: true })
    } catch (error) {
      // Another process created the file first; use its key.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

const parseKeys = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split(/[\s,]+/)
    .filter(Boolean)

/** Changes whenever the file is written or replaced; undefined if there is no file. */
function fileState(path: string): string | undefined {
  const state = statSync(path, { throwIfNoEntry: false })
  return state && `${state.ino} ${state.size} ${state.mtimeMs}`
}

/**
 * The vault of a process: with the keys of its settings, which stay until the process restarts, else with the key file of the data folder.
 */
export const openVault = (keys: string[], dataDir: string): Vault =>
  new Vault(keys.length ? () => keys : new KeyFile(dataDir).load)
