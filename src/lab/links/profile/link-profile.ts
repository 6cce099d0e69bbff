// The profile of a link: how a laboratory's messages are transported and written, and what they mean where messages leave it open. Without
// the profile's word nothing is guessed. Each group of options is a file. Source: lab-links.md 8.3.
import { Fields, type Static } from '../../../platform/schema/schema.ts'
import { AcknowledgmentOptions } from './acknowledgment-options.ts'
import { CodeOptions } from './code-options.ts'
import { IdentityOptions } from './identity-options.ts'
import { OrderContentOptions } from './order-content-options.ts'
import { OrderNumberOptions } from './order-number-options.ts'
import { PatientOptions } from './patient-options.ts'
import { ResultOptions } from './result-options.ts'
import { TextOptions } from './text-options.ts'
import { TransportOptions } from './transport-options.ts'

export const LinkProfile = Fields(
  {
    identity: IdentityOptions,
    transport: TransportOptions,
    acknowledgment: AcknowledgmentOptions,
    text: TextOptions,
    order_number: OrderNumberOptions,
    patient: PatientOptions,
    order_content: OrderContentOptions,
    results: ResultOptions,
    codes: CodeOptions,
  },
  { title: 'LinkProfile', additionalProperties: false },
)
/** A whole profile: every option has a value. */
export type LinkProfile = Static<typeof LinkProfile>

/** A value of which any part may be absent. */
type DeepPartial<V> = V extends readonly unknown[] ? V : V extends object ? { [K in keyof V]?: DeepPartial<V[K]> } : V

/** The options of a profile that differ from those of its preset, or from the defaults. */
export type ProfileOptions = DeepPartial<LinkProfile>
