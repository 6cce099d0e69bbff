// Schemas of custom domains. Source: openapi-management.json; management-auth.md 8.
import { hostName } from '../../platform/net/host-name.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { Email, Fields, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

/** Leaves room for the prefixes of the domain's records. */
const DOMAIN_MAX = 240
const MALFORMED = 'must be a domain name like example.com: no address, no URL, no wildcard'

export const Domain = Fields(
  {
    id: Uuid,
    domain: T.String({ description: 'In lower case and punycode, without a dot at the end.' }),
    is_verified: T.Boolean(),
    created_on: Timestamp,
    dns_records: Nullable(
      T.Array(T.Record(T.String(), T.String()), {
        description: 'What DNS must hold: `type`, `host` and `value` of each record.',
      }),
    ),
  },
  { title: 'Domain' },
)
export type Domain = Static<typeof Domain>
export const DomainList = Fields({ data: T.Array(Domain) }, { title: 'DomainList' })
export const DomainParams = Fields({ org_id: Uuid, domain_id: Uuid })
export const CreateDomain = Fields(
  {
    domain: Text({
      maxLength: 500,
      description: 'In any letter case and script; read as its punycode.',
      rule: (text) => {
        const name = hostName(text)
        return name !== undefined && name.length <= DOMAIN_MAX ? name : new RuleError(MALFORMED)
      },
    }),
  },
  { title: 'CreateDomain' },
)
export const VerifiedDomain = Fields({ status: OpenEnum(['verified', 'pending']) }, { title: 'VerifiedDomain' })
export const SendInstructions = Fields({ to_email: Email }, { title: 'SendDomainInstructions' })
export const SentInstructions = Fields({ sent: T.Boolean(), sendgrid_message_id: T.Null() }, { title: 'SentDomainInstructions' })
