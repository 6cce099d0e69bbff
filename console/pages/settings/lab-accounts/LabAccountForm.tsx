import { Button, Group, MultiSelect, NativeSelect, Select, Stack, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { toWords } from '../../../components/order-status.ts'
import { US_STATES } from '../us-states.ts'
import { useLabs, useSaveLabAccount, type LabAccount } from './lab-account-queries.ts'
import { BILLING_TYPES, EMPTY_TERMS, FLOWS, STATUSES, termsOf, toForm, type LabAccountFormValues } from './lab-account-form.ts'

interface LabAccountFormProps {
  /** The account that is changed; undefined: a new one. */
  account: LabAccount | undefined
  onSaved: () => void
}

/** Creates or changes a lab account of a sandbox. */
export function LabAccountForm({ account, onSaved }: LabAccountFormProps) {
  const [account_id] = useState(() => account?.id ?? crypto.randomUUID())
  const [values, setValues] = useState<LabAccountFormValues>(() => (account ? toForm(account) : EMPTY_TERMS))
  const saving = useSaveLabAccount(onSaved)
  const set = (change: Partial<LabAccountFormValues>): void => setValues({ ...values, ...change })
  const errorOf = (name: string) => fieldMessage(saving.error, `body.${name}`)
  const text = (name: 'provider_account_id' | 'account_name' | 'default_clinical_notes') => ({
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errorOf(name),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    saving.mutate({ account_id, terms: termsOf(values) })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <LabSelect value={values.lab} onChange={(lab) => set({ lab })} isFixed={account !== undefined} error={errorOf('lab')} />
        <TextInput label="Account number at the laboratory" required {...text('provider_account_id')} />
        <TextInput label="Name" {...text('account_name')} />
        <NativeSelect
          label="Status"
          description="Only an active account takes orders"
          data={STATUSES.map((value) => ({ value, label: toWords(value) }))}
          value={values.status}
          onChange={(event) => set({ status: event.currentTarget.value as LabAccount['status'] })}
        />
        <NativeSelect
          label="Delegated to the customer"
          description="What the customer does itself: order by own physicians, follow up critical results"
          data={FLOWS.map((value) => ({ value, label: toWords(value) }))}
          value={values.delegated_flow}
          onChange={(event) => set({ delegated_flow: event.currentTarget.value as LabAccount['delegated_flow'] })}
        />
        <TagsInput
          label="Business units"
          value={values.business_units}
          onChange={(business_units) => set({ business_units })}
          error={errorOf('business_units')}
        />
        <Textarea label="Clinical notes of orders without their own" autosize minRows={2} {...text('default_clinical_notes')} />
        {BILLING_TYPES.map((type) => (
          <BillingStates
            key={type}
            label={toWords(type)}
            states={values.billing[type]}
            onChange={(states) => set({ billing: { ...values.billing, [type]: states } })}
          />
        ))}
        {saving.error && <ErrorNotice error={saving.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={saving.isPending} disabled={!values.lab}>
            {account ? 'Save lab account' : 'Create lab account'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface LabSelectProps {
  value: string
  onChange: (lab: string) => void
  isFixed: boolean
  error: string | undefined
}

/** The laboratory, which an account keeps. */
function LabSelect({ value, onChange, isFixed, error }: LabSelectProps) {
  const labs = useLabs()
  if (isFixed) return <TextInput label="Laboratory" value={value} readOnly />
  return (
    <>
      <Select
        label="Laboratory"
        data={labs.data?.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
        value={value || null}
        onChange={(slug) => onChange(slug ?? '')}
        error={error}
        searchable
        selectFirstOptionOnChange
        required
      />
      {labs.error && <ErrorNotice error={labs.error} onRetry={() => void labs.refetch()} />}
    </>
  )
}

interface BillingStatesProps {
  label: string
  states: string[]
  onChange: (states: string[]) => void
}

/** The states in which a billing type is offered: none, some or every one. */
const BillingStates = ({ label, states, onChange }: BillingStatesProps) => (
  <Stack gap="xs">
    <Group justify="space-between">
      <Text size="sm" fw={500}>
        {label}:{' '}
        {states.length === 0 ? 'not offered' : states.length === US_STATES.length ? 'every state' : `${states.length} states`}
      </Text>
      <Group gap="xs">
        <Button size="compact-xs" variant="subtle" aria-label={`Every state: ${label}`} onClick={() => onChange([...US_STATES])}>
          Every state
        </Button>
        <Button size="compact-xs" variant="subtle" aria-label={`None: ${label}`} onClick={() => onChange([])}>
          None
        </Button>
      </Group>
    </Group>
    {states.length < US_STATES.length && (
      <MultiSelect
        aria-label={`States with ${label}`}
        data={US_STATES}
        value={states}
        onChange={onChange}
        searchable
        selectFirstOptionOnChange
      />
    )}
  </Stack>
)
