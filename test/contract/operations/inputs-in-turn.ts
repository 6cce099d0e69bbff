// Which of many inputs an operation is sent, where code that operations share reads them: the first operation of a kind gets every input,
// each later one some in turn, which shows that it is connected to that code.
import { isFile, type Operation } from '../../../src/platform/http/operation.ts'

/** What decides how the server reads a request before the operation does. */
const kindOf = (operation: Operation): string =>
  JSON.stringify([
    operation.auth,
    operation.method,
    operation.body !== undefined,
    operation.body_optional,
    operation.body_bytes_max !== undefined,
    operation.file !== undefined,
    operation.idempotency?.required,
    operation.userTokens,
    operation.reply !== undefined && isFile(operation.reply),
  ])

/** A longer search: `EVERY_INPUT=1` sends every input to every operation. */
const EVERY_INPUT = process.env.EVERY_INPUT === '1'

/** Chooses inputs: all of them for the first of each kind, `count` for each later one, beginning where the one before it ended. */
export function chooserByKind<Input>(inputs: readonly Input[], count = 1): (kind: string) => readonly Input[] {
  const known = new Set<string>()
  let next = 0
  return (kind) => {
    if (EVERY_INPUT || !known.has(kind)) {
      known.add(kind)
      return inputs
    }
    return Array.from({ length: Math.min(count, inputs.length) }, () => inputs[next++ % inputs.length]!)
  }
}

/** As `chooserByKind` does, by what decides how a request is read. */
export function inTurn<Input>(inputs: readonly Input[]): (operation: Operation) => readonly Input[] {
  const choose = chooserByKind(inputs)
  return (operation) => choose(kindOf(operation))
}
