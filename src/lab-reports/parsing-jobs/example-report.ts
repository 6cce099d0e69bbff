// A lab report with one result, and its upload as clients send it: for the API page, and for what triggers events.

const PAGE = 'BT /F1 9 Tf 40 700 Td (Glucose 95 mg/dL 70-99) Tj ET'
/** Readers make the table of the places of its objects for themselves. */
export const exampleReport = `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>> endobj
4 0 obj <</Length ${PAGE.length}>> stream
${PAGE}
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
trailer <</Root 1 0 R>>
%%EOF`

/** A form of type `type` with a lab report of a user. */
export function reportForm(user_id: string, file = exampleReport): { body: Buffer<ArrayBuffer>; type: string } {
  const part = (head: string, content: string) => `--form\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const sent = part('name="file"; filename="report.pdf"\r\nContent-Type: application/pdf', file)
  return {
    body: Buffer.from(`${part('name="user_id"', user_id)}${sent}--form--\r\n`),
    type: 'multipart/form-data; boundary=form',
  }
}
