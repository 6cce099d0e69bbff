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
  /** As the server has them. */
  current: readonly RetentionRule[]
  onSaved: () => void
}

/** Changes the rules: what they would delete is counted before they are saved. */
export function RuleEditor({ current, onSaved }: RuleEditorProps) {
  const canSave = usePermission('set_data_retention')
  const [rules, setRules] = useState<RetentionRule[]>([...current])
  const preview = useRetentionPreview()
  const [isSaving, { open, close }] = useDisclosure()
  return (
    <Stack gap="md">
      {rules.length === 0 ? <Text size="sm">All health data is kept.</Text> : <RuleTable rules={rules} onChange={setRules} />}
      {canSave ? (
        <Group gap="sm">
          <NewRule rules={rules} onAdd={(rule) => setRules([...rules, rule])} />
          <Button
            disabled={!isChanged(rules, current)}
            loading={preview.isPending}
            onClick={() => preview.mutate(rules, { onSuccess: open })}
          >
            Count and save
          </Button>
          {isChanged(rules, current) && (
            <Button variant="subtle" onClick={() => setRules([...current])}>
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

interface RuleTableProps {
  rules: RetentionRule[]
  onChange: (rules: RetentionRule[]) => void
}

function RuleTable({ rules, onChange }: RuleTableProps) {
  const canSave = usePermission('set_data_retention')
  const setDays = (index: number, days: number): void =>
    onChange(rules.map((rule, place) => (place === index ? { ...rule, days } : rule)))
  return (
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
            <RuleRow
              key={rule.resource ?? ALL}
              rule={rule}
              name={nameResource(rule.resource, rules)}
              onChange={(days) => setDays(index, days)}
              onRemove={() => onChange(rules.filter((_, place) => place !== index))}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}

interface RuleRowProps {
  rule: RetentionRule
  name: string
  onChange: (days: number) => void
  onRemove: () => void
}

function RuleRow({ rule, name, onChange, onRemove }: RuleRowProps) {
  const canSave = usePermission('set_data_retention')
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>
        {canSave ? (
          <NumberInput
            aria-label={`Days of ${name}`}
            value={rule.days}
            onChange={(days) => typeof days === 'number' && onChange(days)}
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
          <Button size="compact-sm" variant="default" aria-label={`Remove the rule of ${name}`} onClick={onRemove}>
            Remove
          </Button>
        </Table.Td>
      )}
    </Table.Tr>
  )
}

/** Chooses the resource of another rule. */
function NewRule({ rules, onAdd }: { rules: readonly RetentionRule[]; onAdd: (rule: RetentionRule) => void }) {
  const unused = [null, ...RESOURCES].filter((resource) => !rules.some((rule) => rule.resource === resource))
  return (
    <Select
      aria-label="Add a rule for"
      placeholder="Add a rule for…"
      data={unused.map((resource) => ({ value: resource ?? ALL, label: nameResource(resource, rules) }))}
      value={null}
      onChange={(value) => value !== null && onAdd({ resource: value === ALL ? null : (value as Resource), days: FIRST_DAYS })}
      searchable
    />
  )
}

/** The rule without a resource is for every resource that has none of its own. */
function nameResource(resource: Resource | null, rules: readonly RetentionRule[]): string {
  if (resource !== null) return toWords(resource)
  return rules.some((rule) => rule.resource !== null) ? 'All other resources' : 'All resources'
}
