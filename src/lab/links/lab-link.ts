// A lab link: the adapter between orders and one laboratory's protocol. It uses neutral records and never sees an order.

/** The request to a laboratory. */
interface Requisition {
  /** Identifies the request: placing the same reference twice places it once. */
  reference: string
  lab_slug: string
  /** `kit`: send a collection kit whose patient is not known yet. `requisition`: test a known patient. */
  kind: 'kit' | 'requisition'
}

export interface LabLink {
  name: string
  /** Sends the request to the laboratory. Throws if it is unreachable; the caller retries. Absent if the laboratory needs no request. */
  place?(requisition: Requisition): Promise<void>
  /** The barcode of the kit for a reference, if the link determines it at once; undefined if staff assign the kit later. */
  barcode(reference: string): string | undefined
}
