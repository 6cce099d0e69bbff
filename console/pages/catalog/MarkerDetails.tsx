import { List, Stack, Text, Title } from '@mantine/core'
import { Facts } from '../../components/Facts.tsx'
import { toWords } from '../../components/order-status.ts'
import type { Marker } from './catalog-queries.ts'
import { durationText } from './lab-test-words.ts'

interface MarkerDetailsProps {
  marker: Marker
  price: string
  lab: string | undefined
}

/** One marker: what the laboratory reports for it, and what it asks. */
export const MarkerDetails = ({ marker, price, lab }: MarkerDetailsProps) => (
  <Stack gap="lg">
    <Facts
      facts={[
        { label: 'Description', value: marker.description },
        { label: 'Laboratory', value: lab },
        { label: 'Code', value: marker.provider_id },
        { label: 'Id', value: marker.id },
        { label: 'Type', value: marker.type && toWords(marker.type) },
        { label: 'Unit', value: marker.unit },
        { label: 'Price', value: price },
        { label: 'Results take', value: durationText(marker) },
        { label: 'By itself', value: marker.a_la_carte_enabled ? 'Can be ordered' : 'Only within a test' },
      ]}
    />
    <Stack gap="xs">
      <Title order={3}>Reported results</Title>
      <List size="sm">
        {marker.expected_results.map(({ id, name, loinc, required }) => (
          <List.Item key={id}>
            {name}
            {loinc && `, LOINC ${loinc.code}`}
            {!required && ', in some cases'}
          </List.Item>
        ))}
      </List>
    </Stack>
    <Stack gap="xs">
      <Title order={3}>Questions at order entry</Title>
      {marker.aoe?.questions.length ? (
        <List size="sm">
          {marker.aoe.questions.map(({ id, value, required, answers }) => (
            <List.Item key={id}>
              {value} ({required ? 'required' : 'optional'}
              {answers.length > 0 && `: ${answers.map((answer) => answer.value).join(', ')}`})
            </List.Item>
          ))}
        </List>
      ) : (
        <Text size="sm" c="dimmed">
          The laboratory asks nothing.
        </Text>
      )}
    </Stack>
  </Stack>
)
