import { messageOf } from '../../common/errors.ts'
import { type BuildOptions, type BuiltManifests, buildManifests } from './build-manifests.ts'
import { readerOfNeighbors, type Source } from './conversion-context.ts'
import { type ConversionFinding, ConversionReport } from './conversion-report.ts'
import { convertObjects } from './convert-objects.ts'
import { readHclDocument } from './hcl-document.ts'
import { type ConversionFile, type ConversionInput, decodeUtf8, STDIN } from './input-files.ts'
import { readPropertiesDocument } from './properties-document.ts'
import { readYamlDocuments, type SourceDocument, type SourceError } from './source-document.ts'
import { convertTerraform, terraformDocumentOf } from './terraform-resources.ts'

export type ConversionOptions = BuildOptions & { readonly from: Source | undefined }
export type Conversion = BuiltManifests & { readonly findings: readonly ConversionFinding[] }

/** Converts the resources of all files. Depends on the input only. */
export function convertInput({ files, errors }: ConversionInput, options: ConversionOptions): Conversion {
  const report = new ConversionReport()
  for (const { file, message } of errors) report.addError({ file, line: 1, message })
  const contents = files.map((input) => readDocuments(input, options.from))
  for (const error of contents.flatMap(({ errors: unreadable }) => unreadable)) report.addError(error)
  const context = {
    report,
    from: options.from,
    readFile: readerOfNeighbors(files),
    isWorkerNamed: options.workerRef !== undefined,
    isRegistryNamed: options.registryRef !== undefined,
  }
  const objects = contents.flatMap(({ documents }) => documents)
  const terraform = contents.flatMap((content) => content.terraform)
  const drafts = [
    ...convertObjects(objects, context),
    ...terraform.flatMap((document) => convertTerraform(document, context)),
  ]
  const built = buildManifests(drafts, options, report)
  return { ...built, findings: report.findings() }
}

type InputContent = {
  readonly documents: readonly SourceDocument[]
  readonly terraform: readonly SourceDocument[]
  readonly errors: readonly SourceError[]
}

function readDocuments({ file, bytes }: ConversionFile, from: Source | undefined): InputContent {
  if (isProperties(file, bytes, from)) {
    try {
      return { documents: [readPropertiesDocument(bytes, file)], terraform: [], errors: [] }
    } catch (error) {
      return { documents: [], terraform: [], errors: [{ file, line: 1, message: messageOf(error) }] }
    }
  }
  const text = decodeUtf8(bytes)
  if (text === undefined) {
    return { documents: [], terraform: [], errors: [{ file, line: 1, message: 'is not encoded in UTF-8' }] }
  }
  if (isHcl(file, text, from)) {
    const { documents, errors } = readHclDocument(text, file)
    return { documents: [], terraform: documents, errors }
  }
  const { documents, errors } = readYamlDocuments(text, file)
  const terraform = documents.flatMap((document) => terraformDocumentOf(document) ?? [])
  return { documents: documents.filter((document) => terraformDocumentOf(document) === undefined), terraform, errors }
}

/** Standard input has no name: with `--from connect`, it is JSON or properties. */
function isProperties(file: string, bytes: Buffer, from: Source | undefined): boolean {
  if (/\.properties$/i.test(file)) return true
  return from === 'connect' && file === STDIN && !/^(?:\xef\xbb\xbf)?\s*[[{]/.test(bytes.toString('latin1', 0, 1024))
}

/** Standard input has no name: with `--from terraform`, it is JSON or HashiCorp's configuration language. */
function isHcl(file: string, text: string, from: Source | undefined): boolean {
  return /\.tf$/i.test(file) || (from === 'terraform' && file === STDIN && !/^\s*\{/.test(text))
}
