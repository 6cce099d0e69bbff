import { Table, Text } from '@mantine/core'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import type { Marker } from '../catalog/catalog-queries.ts'
import { durationText } from '../catalog/lab-test-words.ts'

/** Markers with their codes, and what is reported for each. */
export const MarkerTable = ({ markers, label }: { markers: readonly Marker[]; label: string }) => (
  <ScrollRegion label={label}>
    <Table miw={720} aria-label={label} verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Marker</Table.Th>
          <Table.Th>Code</Table.Th>
          <Table.Th>LOINC</Table.Th>
          <Table.Th>Unit</Table.Th>
          <Table.Th miw={140}>Results take</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {markers.map((marker) => (
          <MarkerRow key={marker.id} marker={marker} />
        ))}
      </Table.Tbody>
    </Table>
  </ScrollRegion>
)

function MarkerRow({ marker }: { marker: Marker }) {
  const { name, provider_id, unit, expected_results, is_orderable } = marker
  const codes = [...new Set(expected_results.flatMap(({ loinc }) => loinc?.code ?? []))]
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        {is_orderable === false && (
          <Text size="xs" c="dimmed">
            Run by the laboratory if another result requires it
          </Text>
        )}
        {expected_results.length > 1 && (
          <Text size="xs" c="dimmed">
            {expected_results.map((result) => result.name).join(', ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{provider_id}</Table.Td>
      <Table.Td>{codes.join(', ')}</Table.Td>
      <Table.Td>{unit}</Table.Td>
      <Table.Td>{durationText(marker)}</Table.Td>
    </Table.Tr>
  )
}
