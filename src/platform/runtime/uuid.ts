/** Identifiers: UUID version 7, ordered by creation, also within one process and millisecond. */
export { uuidv7 as uuid } from 'uuidv7'
