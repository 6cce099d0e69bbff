import { Button, FileButton, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { saveFile } from '../../components/save-file.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useLinkChanges } from '../links/link-queries.ts'
import { listChanges, readProfile, type ProfileChange, type ProfileFile } from './profile-changes.ts'
import classes from './profile.module.css'

interface ProfileFileActionsProps {
  account_id: string
  /** Of the lab account. */
  name: string
  /** Whether there is a profile to export; the import creates one otherwise. */
  hasLink: boolean
}

/** A file that a person chose, and what it changes. */
interface ChosenFile {
  name: string
  profile: ProfileFile
  changes: ProfileChange[]
}

const FILE_BYTES_MAX = 1_000_000

/** Saves the profile of a link as a file, and replaces it by one. */
export function ProfileFileActions({ account_id, name, hasLink }: ProfileFileActionsProps) {
  const canImport = usePermission('upsert_lab_link')
  const canExport = usePermission('export_lab_link')
  const { exportProfile, importProfile } = useLinkChanges(account_id)
  const [chosen, setChosen] = useState<ChosenFile>()
  const [isOpen, { open, close }] = useDisclosure()
  const saving = useMutation({
    mutationFn: async () =>
      saveFile(new Blob([`${JSON.stringify(await exportProfile(), null, 2)}\n`]), `lab-link-${account_id}.json`),
  })
  const choosing = useMutation({
    async mutationFn(file: File): Promise<void> {
      if (file.size > FILE_BYTES_MAX) throw new Error('The file has more than 1 MB.')
      const profile = readProfile(await file.text())
      if (!profile) throw new Error('The file is not a JSON object.')
      setChosen({ name: file.name, profile, changes: listChanges(hasLink ? await exportProfile() : {}, profile) })
      open()
    },
  })
  return (
    <>
      {canExport && hasLink && (
        <Button variant="default" loading={saving.isPending} onClick={() => saving.mutate()}>
          Export profile
        </Button>
      )}
      {canImport && (
        // The same file can be chosen again after it was changed.
        <FileButton key={choosing.submittedAt} accept=".json,application/json" onChange={(file) => file && choosing.mutate(file)}>
          {(props) => (
            <Button variant="default" {...props}>
              Import profile
            </Button>
          )}
        </FileButton>
      )}
      {saving.error && <ErrorNotice error={saving.error} />}
      {choosing.error && (
        <Text role="alert" size="sm" c="var(--failed)">
          {choosing.error.message}
        </Text>
      )}
      {chosen && (
        <ConfirmDialog
          isOpen={isOpen}
          onClose={close}
          title={`Import the profile of ${name}`}
          action="Import profile"
          isDisabled={chosen.changes.length === 0 && hasLink}
          onConfirm={() => importProfile(chosen.profile)}
        >
          <ImportPreview file={chosen} hasLink={hasLink} />
        </ConfirmDialog>
      )}
    </>
  )
}

const ImportPreview = ({ file: { name, changes }, hasLink }: { file: ChosenFile; hasLink: boolean }) => (
  <Stack gap="sm">
    <Text size="sm" className={classes.long}>
      {hasLink
        ? `${name} replaces the profile. Messages are read and written by it from now on; those that were processed stay as they are until they are replayed.`
        : `${name} creates the link, in mode off. The operator of the server sets its transport.`}
    </Text>
    {changes.length === 0 ? (
      <Text size="sm">It has the same options.</Text>
    ) : (
      <ScrollRegion label="Changed options">
        <Table aria-label="Changed options">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Option</Table.Th>
              {hasLink && <Table.Th>Now</Table.Th>}
              <Table.Th>In the file</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ option, currentValue, fileValue }) => (
              <Table.Tr key={option}>
                <Table.Td className={classes.long}>{option}</Table.Td>
                {hasLink && <Table.Td className={classes.long}>{currentValue ?? 'as in the preset'}</Table.Td>}
                <Table.Td className={classes.long}>{fileValue ?? 'as in the preset'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    )}
  </Stack>
)
