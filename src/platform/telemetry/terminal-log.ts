// Lines of the log as people read them at a terminal: time, level, message, then the fields. Elsewhere the log stays JSON.
import { styleText } from 'node:util'

/** `auto`: for people on a terminal, else JSON. */
export const logFormats = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

/** Whether lines on standard error are for people. */
export const isForPeople = (format: LogFormat, isTerminal = process.stderr.isTTY): boolean =>
  format === 'text' || (format === 'auto' && isTerminal)

const COLORS = { debug: 'gray', trace: 'gray', warn: 'yellow', error: 'red', fatal: 'red' } as const
/** Width of a message, so that the fields of most lines begin in one column. */
const MESSAGE_WIDTH = 10

/**
 * One line of the log for a terminal; other text is returned unchanged. Frames of errors follow on lines of their own.
 * @param line JSON, as the log writes it
 */
export function terminalLine(line: string, hasColors: boolean): string {
  const fields = readLine(line)
  if (!fields) return line
  const { level, time, msg, causes, ...rest } = fields
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    hasColors ? styleText(format, text, { validateStream: false }) : text
  const name = level.toUpperCase().padEnd(5)
  const color = COLORS[level as keyof typeof COLORS]
  const shown = Object.entries(rest).map(([key, value]) => `${paint('gray', `${key}=`)}${textOf(value)}`)
  return [
    [paint('gray', time.slice(11, 23)), color ? paint(color, name) : name, (msg ?? '').padEnd(MESSAGE_WIDTH), ...shown]
      .join(' ')
      .trimEnd(),
    ...(Array.isArray(causes) ? causes.flatMap(causeLines) : []),
    '',
  ].join('\n')
}

interface Line {
  level: string
  time: string
  msg?: string
  causes?: unknown
}

/** Undefined for other text. */
function readLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line | null
    return typeof line?.level === 'string' && typeof line.time === 'string' ? line : undefined
  } catch {
    return undefined
  }
}

/** Texts with spaces are quoted, so that the end of a field is clear. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && /^[!#-<>-~]+$/.test(value) ? value : JSON.stringify(value)

function causeLines(cause: unknown): string[] {
  const { stack, ...rest } = cause as { stack?: string }
  const fields = Object.values(rest).map(textOf).join(' ')
  return [`    ${fields}`, ...(stack === undefined ? [] : stack.split('\n'))]
}

/** Whether lines for people have colors: a file would keep them as control characters. */
export const isColored = (noColor = process.env.NO_COLOR, isTerminal = process.stderr.isTTY): boolean => isTerminal && !noColor

/** A destination of the log that writes its lines to standard error for people. */
export const terminalDestination = () => {
  const hasColors = isColored()
  return { write: (line: string) => void process.stderr.write(terminalLine(line, hasColors)) }
}
