// Identifiers: UUID version 7, ordered by creation, also within one process and millisecond.
import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

/** Random bits come from the operating system, a page at a time: asking for each identifier costs more than making it. */
const page = new Uint32Array(1024)
let used = page.length

const generator = new V7Generator({
  nextUint32() {
    if (used === page.length) {
      randomFillSync(page)
      used = 0
    }
    return page[used++]!
  },
})

export const uuid = (): string => generator.generate().toString()
