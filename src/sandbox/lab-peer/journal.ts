// The journal of the simulated laboratory: JSON lines in a file, or in memory alone. It contains whole messages, and so patient data.
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { ReportStep } from './result-messages.ts'

/** `bytes` is Base64. `time` is as HL7 writes it. */
export type JournalLine =
  | { event: 'order'; bytes: string; time: string }
  | { event: 'ignored'; bytes: string }
  | { event: 'report'; placer: string; step: ReportStep; control_id: string; bytes: string }
  | { event: 'answer'; control_id: string; code: string }

export interface Journal {
  /** The lines of earlier runs. */
  readonly lines: readonly JournalLine[]
  /** The line is in the file when this returns. */
  append(line: JournalLine): void
  close(): void
}

/** Opens a journal, or creates it. Errors: Error a line of the file is not JSON; a last line that is not whole is removed. */
export function openJournal(path: string | undefined): Journal {
  if (path === undefined) return { lines: [], append: () => {}, close: () => {} }
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const file = openSync(path, 'a', 0o600)
  ftruncateSync(file, Buffer.byteLength(whole))
  return {
    lines: whole
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as JournalLine),
    append: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
  }
}
