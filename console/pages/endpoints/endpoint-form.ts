// The values of the form of an endpoint, and what they become in requests.
import type { components } from '../../api/schema.d.ts'
import type { Endpoint } from './endpoint-queries.ts'

export interface EndpointForm {
  url: string
  description: string
  /** Empty: every type. */
  filter_types: string[]
  /** Messages a second at most, as it was typed; empty: as many as the endpoint takes. */
  rate_limit: string
}

export const EMPTY_FORM: EndpointForm = { url: '', description: '', filter_types: [], rate_limit: '' }

export const formOf = ({ url, description, filter_types, rate_limit }: Endpoint): EndpointForm => ({
  url,
  description: description ?? '',
  filter_types: filter_types ?? [],
  rate_limit: rate_limit === null ? '' : String(rate_limit),
})

export const toBody = ({
  url,
  description,
  filter_types,
  rate_limit,
}: EndpointForm): components['schemas']['CreateWebhookBody'] => ({
  url: url.trim(),
  description: description.trim(),
  filter_types: filter_types.length ? filter_types : null,
  rate_limit: rate_limit === '' ? null : Number(rate_limit),
})
