// Tasks of a thread that tell its priority.
import { getPriority } from 'node:os'
import { lowerPriority } from '../../src/platform/runtime/low-priority.ts'

export default function lower(): { initialPriority: number; priority: number } {
  const initialPriority = getPriority(0)
  lowerPriority('background')
  return { initialPriority, priority: getPriority(0) }
}

/** The priority of the thread once it has loaded a module. */
export async function afterLoading(module: string): Promise<number> {
  await import(module)
  return getPriority(0)
}

export const ownPriority = (): number => getPriority(0)
