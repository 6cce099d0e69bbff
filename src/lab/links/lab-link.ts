// A lab link: the adapter between orders and one laboratory's way of taking them. It speaks neutral records and never sees an order.

/** What a laboratory is asked to do. */
export interface Requisition {
  /** The same reference asks for the same work: placing it twice does it once. */
  reference: string
  lab_slug: string
  /** `kit`: send a collection kit whose patient is not known yet. `requisition`: test a known patient. */
  kind: 'kit' | 'requisition'
}

export interface LabLink {
  name: string
  /** Ask the laboratory. Throws when it cannot be reached; the caller tries again. Absent where nobody has to be told. */
  place?(requisition: Requisition): Promise<void>
  /** The barcode of the kit for a reference, where the link decides it at once; undefined when a person picks the kit later. */
  barcode(reference: string): string | undefined
}
