import { Button, Group, NumberInput, Select, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { toWords } from '../../../components/order-status.ts'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { DAYS_MAX, isChanged, RESOURCES, type Resource } from './rules.ts'
import { useRetentionPreview, type RetentionRule } from './retention-queries.ts'
import { SaveRulesDialog } from './SaveRulesDialog.tsx'

/** In place of no resource, which stands for all others. */
const ALL = 'all'
const FIRST_DAYS = 365

interface RuleEditorProps {
  saved: readonly RetentionRule[]
  onSaved: () => void
}

/** Changes the rules: what they would delete is counted before they are saved. */
export function RuleEditor({ saved, onSaved }: RuleEditorProps) {
  const canSave = usePermission('set_data_retention')
  const [rules, setRules] = useState<RetentionRule[]>([...saved])
  const preview = useRetentionPreview()
  const [isSaving, { open, close }] = useDisclosure()
  const set = (index: number, change: Partial<RetentionRule>): void =>
    setRules(rules.map((rule, place) => (place === index ? { ...rule, ...change } : rule)))
  const unused = [null, ...RESOURCES].filter((resource) => !rules.some((rule) => rule.resource === resource))
  return (
    <Stack gap="md">
      {rules.length === 0 ? (
        <Text size="sm">All health data is kept.</Text>
      ) : (
        <ScrollRegion label="Rules">
          <Table aria-label="Rules" maw={640}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Resource</Table.Th>
                <Table.Th>Days</Table.Th>
                {canSave && <Table.Th aria-label="Actions" />}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rules.map((rule, index) => (
                <Table.Tr key={rule.resource ?? ALL}>
                  <Table.Td>{nameOf(rule.resource, rules)}</Table.Td>
                  <Table.Td>
                    {canSave ? (
                      <NumberInput
                        aria-label={`Days of ${nameOf(rule.resource, rules)}`}
                        value={rule.days}
                        onChange={(days) => typeof days === 'number' && set(index, { days })}
                        min={1}
                        max={DAYS_MAX}
                        allowDecimal={false}
                        w={104}
                      />
                    ) : (
                      rule.days
                    )}
                  </Table.Td>
                  {canSave && (
                    <Table.Td ta="right">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Remove the rule of ${nameOf(rule.resource, rules)}`}
                        onClick={() => setRules(rules.filter((_, place) => place !== index))}
                      >
                        Remove
                      </Button>
                    </Table.Td>
                  )}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollRegion>
      )}
      {canSave ? (
        <Group gap="sm">
          <Select
            aria-label="Add a rule for"
            placeholder="Add a rule for…"
            data={unused.map((resource) => ({ value: resource ?? ALL, label: nameOf(resource, rules) }))}
            value={null}
            onChange={(value) =>
              value !== null && setRules([...rules, { resource: value === ALL ? null : (value as Resource), days: FIRST_DAYS }])
            }
            searchable
          />
          <Button
            disabled={!isChanged(rules, saved)}
            loading={preview.isPending}
            onClick={() => preview.mutate(rules, { onSuccess: open })}
          >
            Count and save
          </Button>
          {isChanged(rules, saved) && (
            <Button variant="subtle" onClick={() => setRules([...saved])}>
              Undo
            </Button>
          )}
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          Administrators of the team change the rules.
        </Text>
      )}
      {preview.error && <ErrorNotice error={preview.error} />}
      {preview.data && (
        <SaveRulesDialog isOpen={isSaving} onClose={close} onSaved={onSaved} rules={preview.variables} preview={preview.data} />
      )}
    </Stack>
  )
}

/** The rule without a resource is for every resource that has none of its own. */
function nameOf(resource: Resource | null, rules: readonly RetentionRule[]): string {
  if (resource !== null) return toWords(resource)
  return rules.some((rule) => rule.resource !== null) ? 'All other resources' : 'All resources'
}
