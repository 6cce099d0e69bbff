// A disk of a few megabytes that can be filled: a tmpfs. Mounting one takes root, or sudo without a password.
import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { folder as inScratch } from '../program.ts'
import { processExists } from '../../../src/platform/embedded-postgres/processes.ts'
import { releases } from '../embedded-postgres.ts'

const BALLAST = 'ballast'
const MIB = 1024 * 1024
/** What one page of a tmpfs takes. */
const PAGE_BYTES = 4096

/** The device of a mount names the process that made it, so that what a killed one has left is found. */
const device = (pid: number): string => `drawbridge-test-${pid}`
const mounted = new Set<string>()

export interface SmallDisk {
  folder: string
  /** Takes what room there is, but for some pages of 4 kB. */
  fill(pages_left?: number): void
  /** Gives it back. */
  clear(): void
}

/** Whether the program `name` ended well; as root. */
function asRoot(name: string, ...args: string[]): { ok: boolean; output: string } {
  const [program, ...words] = process.getuid?.() === 0 ? [name, ...args] : ['sudo', '-n', name, ...args]
  const { status, stderr, error } = spawnSync(program!, words, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] })
  return { ok: status === 0, output: error?.message ?? stderr.trim() }
}

/**
 * Mount an empty disk on a folder of the scratch folder that is not there yet. It is gone when that is removed.
 * @returns why that is not possible here, where it is not: Linux alone has tmpfs, and containers may not mount
 */
export function smallDisk(name: string, size_mib: number): SmallDisk | string {
  if (process.platform !== 'linux') return 'only Linux has tmpfs'
  unmountLeft()
  const folder = inScratch(name)
  mkdirSync(folder, { recursive: true })
  const owner = `uid=${process.getuid!()},gid=${process.getgid!()},mode=0755`
  const { ok, output } = asRoot('mount', '-t', 'tmpfs', '-o', `size=${size_mib}m,${owner}`, device(process.pid), folder)
  if (!ok) return `a tmpfs cannot be mounted: ${output}`
  mounted.add(folder)
  const ballast = join(folder, BALLAST)
  return {
    folder,
    fill(pages_left = 0) {
      const file = openSync(ballast, 'a')
      for (const bytes of [MIB, PAGE_BYTES]) writeAll(file, Buffer.alloc(bytes))
      ftruncateSync(file, fstatSync(file).size - pages_left * PAGE_BYTES)
      closeSync(file)
    },
    clear: () => rmSync(ballast, { force: true }),
  }
}

/** Writes a piece again and again until there is no room for it. */
function writeAll(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) === piece.length) continue
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

releases.push(() => {
  for (const folder of mounted) if (asRoot('umount', '--lazy', folder).ok) mounted.delete(folder)
})

/** What tests have left that were killed. */
function unmountLeft(): void {
  for (const line of readFileSync('/proc/mounts', 'utf8').split('\n')) {
    const [name = '', folder = ''] = line.split(' ')
    const maker = Number(/^drawbridge-test-(\d+)$/.exec(name)?.[1])
    if (maker > 0 && !processExists(maker)) asRoot('umount', '--lazy', folder)
  }
}
