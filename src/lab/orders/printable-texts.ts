// Texts that documents of an order print: a character that no font has is rejected when the order is placed, not when a sample is taken.
import { unprintableClasses } from '../../platform/pdf/characters.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Loc } from '../../platform/schema/fault.ts'
import type { CreateOrder } from './schema.ts'

type Printed = Pick<CreateOrder, 'patient_details' | 'clinical_notes' | 'aoe_answers'> & {
  patient_address: Pick<CreateOrder['patient_address'], 'first_line' | 'second_line' | 'city' | 'state'>
  physician?: Pick<NonNullable<CreateOrder['physician']>, 'first_name' | 'last_name'> | undefined
  sample_id?: string | undefined
}

/**
 * Checks that documents can print the texts of a request. Errors: 422 with every field that has other characters, and their kinds. The
 * errors contain no part of the texts.
 * @param covers which characters the fonts of the operator have
 */
export function assertPrintable(body: Printed, covers: CoversCharacter): void {
  const faults = textsOf(body).flatMap(([loc, text]) => {
    const classes = text ? unprintableClasses(text, covers) : []
    return classes.length ? [valueFault(loc, `has ${classes.join(' and ')}, which documents of the order cannot print`)] : []
  })
  if (faults.length) throw unprocessable(faults)
}

function textsOf({ patient_details, patient_address, physician, clinical_notes, aoe_answers, sample_id }: Printed) {
  const { first_line, second_line, city, state } = patient_address
  const { email, medical_proxy } = patient_details
  const named = (loc: Loc, fields: Record<string, string | undefined>): [Loc, string | undefined][] =>
    Object.entries(fields).map(([name, text]) => [['body', ...loc, name], text])
  return [
    ...named(['patient_details'], { email }),
    ...(medical_proxy
      ? named(['patient_details', 'medical_proxy'], { first_name: medical_proxy.first_name, last_name: medical_proxy.last_name })
      : []),
    ...named(['patient_address'], { first_line, second_line, city, state }),
    ...(physician ? named(['physician'], { first_name: physician.first_name, last_name: physician.last_name }) : []),
    ...named([], { clinical_notes, sample_id }),
    ...(aoe_answers ?? []).flatMap(({ answer }, index) => named(['aoe_answers', index], { answer })),
  ]
}
