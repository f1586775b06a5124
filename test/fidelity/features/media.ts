// Rows of docs/compatibility.md about images, sound, video, documents and search results.
import { contents, exact, item, lost, PDF, PNG, sent, sentItem, turn, URL_ } from '../say.ts';
import { asked, type Feature, type Group } from '../types.ts';

const data = `data:image/png;base64,${PNG}`;
const source = { type: 'base64', media_type: 'image/png', data: PNG };

const image: Feature = {
  name: 'image as bytes',
  says: {
    chat: asked('`image_url` (data URL)', turn({ type: 'image_url', image_url: { url: data } })),
    responses: asked('`input_image` (data URL)', item({ type: 'input_image', image_url: data })),
    messages: asked('`image` base64', turn({ type: 'image', source })),
    native: asked('`image` base64', turn({ type: 'image', src: { base64: PNG, media_type: 'image/png' } })),
  },
  at: {
    openai_chat: exact(sent({ type: 'image_url', image_url: { url: data } })),
    openai_responses: exact(sentItem({ type: 'input_image', image_url: data })),
    anthropic_messages: exact(sent({ type: 'image', source })),
    gemini: exact(contents({ inlineData: { mimeType: 'image/png', data: PNG } })),
    bedrock_converse: exact(sent({ image: { format: 'png', source: { bytes: PNG } } })),
  },
};

const imageUrl: Feature = {
  name: 'image by address',
  says: {
    chat: asked('`image_url`', turn({ type: 'image_url', image_url: { url: URL_ } })),
    responses: asked('`input_image`', item({ type: 'input_image', image_url: URL_ })),
    messages: asked('`image` url', turn({ type: 'image', source: { type: 'url', url: URL_ } })),
    native: asked('`image` url', turn({ type: 'image', src: { url: URL_ } })),
  },
  at: {
    openai_chat: exact(sent({ type: 'image_url', image_url: { url: URL_ } })),
    openai_responses: exact(sentItem({ type: 'input_image', image_url: URL_ })),
    anthropic_messages: exact(sent({ type: 'image', source: { type: 'url', url: URL_ } })),
    gemini: exact(contents({ inlineData: { mimeType: 'image/png' } }), { as: 'fetched' }),
    bedrock_converse: exact(sent({ image: { format: 'png' } }), { as: 'fetched' }),
  },
};

const detail: Feature = {
  name: 'detail of an image',
  says: {
    chat: asked('`detail`', turn({ type: 'image_url', image_url: { url: data, detail: 'high' } })),
    responses: asked('`detail`', item({ type: 'input_image', image_url: data, detail: 'high' })),
    native: asked(
      '`detail`',
      turn({ type: 'image', src: { base64: PNG, media_type: 'image/png' }, detail: 'high' }),
    ),
  },
  at: {
    openai_chat: exact(sent({ type: 'image_url', image_url: { detail: 'high' } })),
    openai_responses: exact(sentItem({ type: 'input_image', detail: 'high' })),
    anthropic_messages: lost('hint:image_detail_dropped', { gone: ['high'] }),
    gemini: exact({ generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_HIGH' } }),
    bedrock_converse: lost('hint:image_detail_dropped', { gone: ['high'] }),
  },
};

const sound = (format: string) => ({ type: 'input_audio', input_audio: { data: 'UklG', format } });
const clip = (format: string) => ({
  ...{ type: 'audio', format },
  src: { base64: 'UklG', media_type: `audio/${format}` },
});

const audio: Feature = {
  name: 'audio in wav or mp3',
  says: {
    chat: asked('`input_audio`', turn(sound('wav'))),
    native: asked('`audio`', turn(clip('wav'))),
  },
  at: {
    openai_chat: exact(sent(sound('wav'))),
    openai_responses: lost('content:audio_unsupported'),
    anthropic_messages: lost('content:audio_unsupported'),
    gemini: exact(contents({ inlineData: { mimeType: 'audio/wav', data: 'UklG' } })),
    bedrock_converse: lost('content:audio_unsupported'),
  },
  note: 'At `bedrock_converse` it is sent to models that list audio.',
};

const flac: Feature = {
  name: 'audio in other formats',
  says: {
    chat: asked('`input_audio`', turn(sound('flac'))),
    native: asked('`audio`', turn(clip('flac'))),
  },
  at: {
    openai_chat: lost('content:audio_format_unsupported'),
    openai_responses: lost('content:audio_unsupported'),
    anthropic_messages: lost('content:audio_unsupported'),
    gemini: exact(contents({ inlineData: { mimeType: 'audio/flac', data: 'UklG' } })),
    bedrock_converse: lost('content:audio_unsupported'),
  },
};

const film = 'data:video/mp4;base64,AAAA';

const video: Feature = {
  name: 'video',
  says: {
    chat: asked('`video_url`', turn({ type: 'video_url', video_url: { url: film } })),
    native: asked('`video`', turn({ type: 'video', src: { base64: 'AAAA', media_type: 'video/mp4' } })),
  },
  at: {
    openai_chat: lost('content:video_unsupported', {
      listed: { wire: sent({ type: 'video_url', video_url: { url: film } }) },
    }),
    openai_responses: lost('content:video_unsupported'),
    anthropic_messages: lost('content:video_unsupported'),
    gemini: exact(contents({ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } })),
    bedrock_converse: lost('content:video_unsupported', {
      listed: { wire: sent({ video: { format: 'mp4', source: { bytes: 'AAAA' } } }) },
    }),
  },
};

const file = `data:application/pdf;base64,${PDF}`;
const pdfSource = { type: 'base64', media_type: 'application/pdf', data: PDF };

const pdf: Feature = {
  name: 'PDF as bytes',
  says: {
    chat: asked('`file`', turn({ type: 'file', file: { file_data: file } })),
    responses: asked('`input_file`', item({ type: 'input_file', file_data: file })),
    messages: asked('`document` base64', turn({ type: 'document', source: pdfSource })),
    native: asked(
      '`document` base64',
      turn({ type: 'document', src: { base64: PDF, media_type: 'application/pdf' } }),
    ),
  },
  at: {
    openai_chat: exact(sent({ type: 'file', file: { file_data: file } })),
    openai_responses: exact(sentItem({ type: 'input_file', file_data: file })),
    anthropic_messages: exact(sent({ type: 'document', source: pdfSource })),
    gemini: exact(contents({ inlineData: { mimeType: 'application/pdf', data: PDF } })),
    bedrock_converse: exact({
      messages: [{ content: [{}, { document: { format: 'pdf', source: { bytes: PDF } } }] }],
    }),
  },
};

const named: Feature = {
  name: 'file name of a PDF',
  says: {
    chat: asked('`file.filename`', turn({ type: 'file', file: { file_data: file, filename: 'a.pdf' } })),
    responses: asked('`filename`', item({ type: 'input_file', file_data: file, filename: 'a.pdf' })),
    native: asked(
      '`name`',
      turn({ type: 'document', src: { base64: PDF, media_type: 'application/pdf' }, name: 'a.pdf' }),
    ),
  },
  at: {
    openai_chat: exact(sent({ type: 'file', file: { filename: 'a.pdf' } })),
    openai_responses: exact(sentItem({ type: 'input_file', filename: 'a.pdf' })),
    anthropic_messages: exact(sent({ type: 'document', title: 'a.pdf' })),
    gemini: exact(contents({ text: '[document: a.pdf]' }, { inlineData: { data: PDF } })),
    bedrock_converse: exact({ messages: [{ content: [{}, { document: { format: 'pdf' } }] }] }),
  },
};

const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'The sea.' } };
const about = { title: 'Notes', context: 'From a diary.' };
const FLAT = 'behaviour:document_flattened';

const document: Feature = {
  name: 'document of text, with title and context',
  says: {
    messages: asked('`document` text', turn({ ...note, ...about })),
    native: asked('`document` text', turn({ type: 'document', src: { text: 'The sea.' }, ...about })),
  },
  at: {
    openai_chat: lost(FLAT),
    openai_responses: lost(FLAT),
    anthropic_messages: exact(sent({ type: 'document', source: note.source, ...about })),
    gemini: lost(FLAT),
    bedrock_converse: exact({
      messages: [
        {
          content: [
            {},
            { document: { format: 'txt', source: { text: 'The sea.' }, context: 'From a diary.' } },
          ],
        },
      ],
    }),
  },
  note: 'Flattened documents keep title, context and text, as one text part with a header.',
};

const cited: Feature = {
  name: 'citations of a document',
  says: {
    messages: asked('`citations.enabled`', turn({ ...note, citations: { enabled: true } })),
    native: asked('`citations`', turn({ type: 'document', src: { text: 'The sea.' }, citations: true })),
  },
  at: {
    openai_chat: { lost: [FLAT, 'behaviour:citations_unsupported'] },
    openai_responses: { lost: [FLAT, 'behaviour:citations_unsupported'] },
    anthropic_messages: exact(sent({ type: 'document', citations: { enabled: true } })),
    gemini: { lost: [FLAT, 'behaviour:citations_unsupported'] },
    bedrock_converse: exact({
      messages: [{ content: [{}, { document: { citations: { enabled: true } } }] }],
    }),
  },
};

const found = { type: 'search_result', source: 'https://a.example', title: 'Sea' };
const said = [{ type: 'text', text: 'It is wide.' }];

const search: Feature = {
  name: 'search result',
  says: {
    messages: asked('`search_result`', turn({ ...found, content: said })),
    native: asked('`search_result`', turn({ ...found, content: said })),
  },
  at: {
    openai_chat: lost(FLAT),
    openai_responses: lost(FLAT),
    anthropic_messages: exact(sent({ ...found, content: said })),
    gemini: lost(FLAT),
    bedrock_converse: exact({
      messages: [{ content: [{ searchResult: { source: 'https://a.example', title: 'Sea' } }] }],
    }),
  },
};

export const media: Group = {
  title: 'Media and documents',
  features: [image, imageUrl, detail, audio, flac, video, pdf, named, document, cited, search],
};
