/** An order that cannot be sent as a message. The faults name fields and options, and contain nothing of the patient. */
export class Unsendable extends Error {
  override name = 'Unsendable'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}
