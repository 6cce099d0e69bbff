import { Button, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useDeleteCredential, type Credential } from './credential-queries.ts'

const HASH_SHOWN = 12

/** Credentials: the application of each provider, and the beginning of the hash of its secret. */
export function CredentialTable({ credentials }: { credentials: readonly Credential[] }) {
  const canDelete = usePermission('delete_team_custom_credentials')
  const deleteCredential = useDeleteCredential()
  // The dialog keeps its credential: the list is read again meanwhile.
  const [deletion, setDeletion] = useState<Credential>()
  const [isConfirming, { open, close }] = useDisclosure()
  return (
    <>
      <ScrollRegion label="Credentials">
        <Table miw={640} aria-label="Credentials">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Provider</Table.Th>
              <Table.Th>Client id</Table.Th>
              <Table.Th>SHA-256 of the secret</Table.Th>
              <Table.Th>Changed</Table.Th>
              {canDelete && <Table.Th aria-label="Actions" />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {credentials.map((credential) => {
              const { id, source, client_id, client_secret_hash, updated_at } = credential
              return (
                <Table.Tr key={id}>
                  <Table.Td>{source}</Table.Td>
                  <Table.Td>{client_id}</Table.Td>
                  <Table.Td title={client_secret_hash ?? ''}>
                    {client_secret_hash === null ? 'no secret' : `${client_secret_hash.slice(0, HASH_SHOWN)}…`}
                  </Table.Td>
                  <Table.Td>
                    <RelativeTime value={updated_at} />
                  </Table.Td>
                  {canDelete && (
                    <Table.Td ta="right">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Delete the credentials of ${source}`}
                        onClick={() => {
                          setDeletion(credential)
                          open()
                        }}
                      >
                        Delete
                      </Button>
                    </Table.Td>
                  )}
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {deletion && (
        <ConfirmDialog
          isOpen={isConfirming}
          onClose={close}
          title={`Delete the credentials of ${deletion.source}`}
          action="Delete credentials"
          nameToType={deletion.source}
          onConfirm={() => deleteCredential(deletion.id)}
        >
          <Text size="sm">
            The secret cannot be restored, and grants that users gave to this application can no longer be renewed.
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}
